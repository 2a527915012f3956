import Synchronization

/// A scope that lasts as long as this object: for a screen, a connection, or a response that is still being written.
///
/// It is opened synchronously, and closed when its owner releases it. Its instances are then disposed in the
/// background, with an error as ``DisposalReason/error``, because its work may be incomplete. Observers receive the
/// errors of hooks.
/// ```swift
/// final class PlayerScreen {
///     private let scope: OwnedScope
///
///     init(in container: Container, playing song: Song) throws {
///         scope = try OwnedScope(in: container) { Registration(instance: song) }
///     }
///
///     func load() async throws -> Player { try await scope.container.resolve(Player.self) }
/// }
/// ```
/// An instance of the scope that holds the owner keeps the scope open for good, like any cycle of references.
///
/// Work that outlives the function that began it must announce its end. The scope of a streamed response lasts until
/// the last byte, and ends with an error when writing fails or the response is dropped:
/// ```swift
/// let scope = try OwnedScope(in: container, isDrained: true) { Registration(instance: request) }
/// var response = try await scope.run { _ in try await next(request) }
/// let body = response.body
/// response.body = ResponseBody { writer in
///     try await scope.finish { _ in try await body.write(writer) }
/// }
/// ```
public final class OwnedScope: Sendable {
    /// The scope.
    public let container: Container
    private let state = Locked(State())

    private struct State {
        /// The parts of the work that are under way.
        var parts = 0
        /// Whether the end is under way or over: no part begins any more.
        var isEnding = false
        /// The error of a part that failed first; the whole work has failed with it.
        var failure: (any Error)?
        /// The error of the end, for every other call that ends the scope.
        var error: (any Error)?

        mutating func noteFailure(_ error: any Error) {
            if failure == nil { failure = error }
        }
    }

    /// Opens a scope.
    ///
    /// - Parameters:
    ///   - parent: The container above the scope.
    ///   - name: The name of the scope in messages; it is no key.
    ///   - isDrained: Whether ``Container/drain(deadline:)`` waits for the end of the scope, as for the body of a
    ///     `withScope`. Use it for a response, but not for a screen, which may stay open indefinitely. The task that
    ///     drains must not be the owner.
    ///   - registrations: The scope's own registrations, which may override inherited ones.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public init(
        in parent: Container, name: String = "scope", isDrained: Bool = false,
        @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
    ) throws {
        container = try parent.core.openScope(
            isDrained ? .work : .object, name: name, holder: parent, registrations: registrations)
    }

    /// The container in which a scope that replaces this one is opened, when `container` is asked for it: not this
    /// scope itself, which would end its successor.
    func place(ofSuccessorIn container: Container) -> Container {
        container === self.container ? container.core.parent?.handle() ?? container : container
    }

    /// Runs a part of the scope's work, with the scope as ``Container/current``.
    ///
    /// - Parameter operation: The work, isolated like the code around it. When it throws, the scope ends with its
    ///   error.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work; ``ResolutionError`` with the code `disposed` when the scope has ended before,
    ///   or meanwhile, so that the work is lost. The rollback by `onDispose` hooks is then over, unless other parts or
    ///   leases of the scope's instances go on: they may end only with the error that this part throws.
    public nonisolated(nonsending) func run<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        let core = container.core
        // First, so that a drain of the scope itself sees the work, or the part is refused.
        core.beginWork()
        defer { core.endWork() }
        let isRefused = core.isDrained && core.isRefusedWhileDraining
        let (isOpen, isEnding) = state.withLock { state in
            // In one step, so that no part begins beside the end.
            let isOpen = !state.isEnding && !core.table.isClosed && !isRefused
            if isOpen { state.parts += 1 }
            return (isOpen, state.isEnding)
        }
        guard isOpen else {
            var refusal = core.disposedError(nil, asker: nil)
            refusal.underlying = state.withLock { $0.failure }.map(ResolutionError.withoutOrigins)
            // The work of this part is lost, unless the owner has ended the scope, or is still to end it.
            if !isEnding, core.table.isClosed { state.withLock { $0.noteFailure(refusal) } }
            throw refusal
        }
        // Unsafe because a `do` cannot express that the result was received as `sending` and that no other code uses it
        // on its way out.
        nonisolated(unsafe) let result: R
        do {
            let part = LeaseBody(leasing: [PartOfWork(in: core)], at: core)
            result = try await container.whileCurrent { try await LeaseBody.run(operation, with: container, in: part) }
        } catch {
            let isLast = state.withLock { state in
                state.parts -= 1
                state.noteFailure(error)
                return state.parts == 0
            }
            await core.endFailedPart(isLast: isLast, because: error)
            throw error
        }
        // Not under the lock, because the scope's name may be user code.
        let cutShort = core.table.isClosed ? ContainerCore.cutShort(core) : nil
        let (failure, isLast) = state.withLock { state in
            let failure = state.failure
            state.parts -= 1
            if let cutShort { state.noteFailure(cutShort) }
            return (failure, state.parts == 0)
        }
        if let cutShort {
            // As at the end of a `withScope`: the caller may do the work again, and not beside its rollback.
            await core.endFailedPart(isLast: isLast, because: cutShort)
            var error = core.lostWork ?? cutShort
            error.underlying = failure.map(ResolutionError.withoutOrigins)
            throw error
        }
        return result
    }

    /// Runs the last part of the scope's work, and ends the scope.
    ///
    /// - Parameter operation: The work, isolated like the code around it.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work; else the same as ``end()``.
    public nonisolated(nonsending) func finish<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        // A drain of the scope itself waits for the end, too.
        container.core.beginWork()
        defer { container.core.endWork() }
        // Unsafe because it was received as `sending`, and no other code uses it on its way out.
        nonisolated(unsafe) let result = try await run(operation)
        try await end()
        return result
    }

    /// Ends the scope, whose work is done, and waits for the disposal of its instances.
    ///
    /// - Throws: The error of an `onDispose` hook, unchanged, or ``DisposalError`` when several hooks throw;
    ///   ``ResolutionError`` with the code `disposed` when the work was lost, because a part of it failed or the scope
    ///   was disposed before, and with the code `invalidOperation`, which ends nothing, while a part is under way.
    public nonisolated(nonsending) func end() async throws {
        // First, because an end that is refused ends nothing: other parts may go on.
        if state.withLock({ $0.failure == nil && $0.error == nil }) { try container.core.refuseDisposalHere() }
        let (isBusy, failure, error) = state.withLock { state in
            if state.parts == 0, state.failure == nil { state.isEnding = true }
            return (state.parts > 0, state.failure, state.error)
        }
        if let error { throw error }
        if let failure {
            // Where the failure itself has not ended the scope: it is about to, or could not, inside a lease of it.
            await container.core.endFailedBody(because: failure)
            throw ResolutionError(
                .disposed, "the work of \(container.core.displayName) was lost, because it has failed.",
                advice: "The underlying error is that of a part, or of the owner.", underlying: failure)
        }
        if isBusy {
            throw ResolutionError(
                .invalidOperation, "\(container.core.displayName) cannot end while one of its runs is in progress.",
                advice: "Call end() after the last run, or use finish.")
        }
        do {
            try await container.core.endBody()
        } catch {
            state.withLock { $0.error = error }
            throw error
        }
    }

    /// Ends the scope, whose work failed, and waits for the disposal of its instances.
    ///
    /// A part that is under way loses its work, and throws `disposed`.
    ///
    /// - Parameter error: The error that hooks receive as ``DisposalReason/error``.
    /// - Throws: The same as ``Container/dispose(failing:)``.
    public nonisolated(nonsending) func end(failing error: any Error) async throws {
        state.withLock { state in
            // The call of `end()` that is under way or over knows whether its work is lost.
            if state.failure == nil, !state.isEnding { state.failure = error }
        }
        try await container.core.dispose(reason: DisposalReason(error: error), isEndOfBody: true)
    }

    deinit {
        let core = container.core
        if core.table.isClosed { return }
        _ = core.beginDisposal(reason: DisposalReason(error: ContainerCore.cutShort(core), hasCaller: false))
    }
}

extension ContainerCore {
    /// Ends a scope whose work is done.
    ///
    /// - Throws: The one error of a hook, unchanged; `DisposalError`; the error of work that was lost because the scope
    ///   was disposed under it.
    nonisolated(nonsending) func endBody() async throws {
        var errors: [any Error] = []
        // Most requests' scopes have nothing to close that takes time.
        if try !disposeAtOnce() {
            do {
                try await disposeWaiting(reason: DisposalReason(), isEndOfBody: true)
            } catch let error as DisposalError {
                errors = error.errors
            }
        }
        // Where another end of the scope has waited for the disposal, it has received the same errors.
        if errors.isEmpty, let others = disposalUnderWay?.errors, !others.isEmpty {
            errors = DisposalError(errors: others).errors
        }
        // The errors of the hooks belong to the call that disposed the scope.
        if let lostWork { throw lostWork }
        // The one thing that went wrong, such as a commit that failed.
        if !errors.isEmpty { throw errors.count == 1 ? errors[0] : DisposalError(errors: errors) }
    }

    /// Ends a scope whose work failed; observers receive the errors of hooks.
    nonisolated(nonsending) fileprivate func endFailedBody(because error: any Error) async {
        let reason = DisposalReason(error: error, hasCaller: false)
        do {
            try await dispose(reason: reason, isEndOfBody: true)
        } catch is DisposalError {
            // The error of the work is the caller's.
        } catch {
            // Inside a lease of the scope, for one, the caller cannot wait for the end, which comes nevertheless.
            _ = beginDisposal(reason: reason, isEndOfBody: true)
        }
    }

    /// Ends a scope after a part of its work that failed.
    nonisolated(nonsending) fileprivate func endFailedPart(isLast: Bool, because error: any Error) async {
        // First, so that no lease begins afterwards.
        _ = beginDisposal(reason: DisposalReason(error: error, hasCaller: false), isEndOfBody: true)
        if isLast, !isLeasedByBodies { await endFailedBody(because: error) }
    }

    /// Notes that work begins for which a drain of this very scope waits.
    fileprivate func beginWork() { if isDrained { withState { $0.life.beginBody() } } }

    /// Notes its end.
    fileprivate func endWork() {
        guard isDrained else { return }
        for continuation in withState({ $0.life.endBody() }) { continuation.resume() }
    }

    /// Whether bodies lease instances of this scope, or of containers below it.
    private var isLeasedByBodies: Bool {
        var pending = [self]
        while let core = pending.popLast() {
            if core.withState({ $0.leases.all.contains { $0.bodies > 0 } }) { return true }
            pending += core.childCores
        }
        return false
    }
}
