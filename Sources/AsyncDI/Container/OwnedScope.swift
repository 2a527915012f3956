import Synchronization

/// A scope that lasts as long as this object: for a screen, a connection, or a response that is still being written.
///
/// It is opened synchronously, and closed when its owner lets go of it. What it holds is then disposed in the background,
/// with an error as ``DisposalReason/error``, since nothing says that its work was done. Observers are told what hooks
/// throw.
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
/// Work that outlives the function that began it says when it is done. The scope of a streamed response lasts until the
/// last byte, and ends with an error when writing fails or the response is dropped:
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

    /// Opens a scope.
    ///
    /// - Parameters:
    ///   - parent: The container above the scope.
    ///   - name: What messages call the scope; it is not found by it.
    ///   - isDrained: Whether ``Container/drain(deadline:)`` waits for the end of the scope, as for the body of a
    ///     `withScope`. A screen may stay open for as long as it likes, a response may not.
    ///   - registrations: What is added or overridden in the scope.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public init(
        in parent: Container, name: String = "scope", isDrained: Bool = false,
        @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
    ) throws {
        container = try parent.core.openScope(
            key: nil, name: name, holder: parent, isBody: isDrained, registrations: registrations)
    }

    /// Runs a part of the scope's work, with the scope as ``Container/current``.
    ///
    /// - Parameter operation: The work, isolated like the code around it. When it throws, the scope ends with its error.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work; ``ResolutionError`` with the code `disposed` when the scope has ended.
    public nonisolated(nonsending) func run<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        if container.core.table.isClosed { throw container.core.disposedError(nil, asker: nil) }
        // Unsafe because a `do` cannot express that the result was received as `sending` and is touched by nothing on
        // its way out.
        nonisolated(unsafe) let result: R
        do {
            result = try await Container.$current.bind(container) { try await operation(container) }
        } catch {
            // The work's error is the caller's; what goes wrong in disposal has been reported to the observers.
            try? await end(failing: error)
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
        // Unsafe because it was received as `sending`, and is touched by nothing on its way out.
        nonisolated(unsafe) let result = try await run(operation)
        try await end()
        return result
    }

    /// Ends the scope, whose work is done, and waits for the disposal of what it holds.
    ///
    /// - Throws: What an `onDispose` hook throws, unchanged, or ``DisposalError`` when several hooks throw;
    ///   ``ResolutionError`` with the code `disposed` when the scope was disposed before, so that its work was not
    ///   completed.
    public nonisolated(nonsending) func end() async throws { try await container.core.endBody() }

    /// Ends the scope, whose work failed, and waits for the disposal of what it holds.
    ///
    /// - Parameter error: What hooks see as ``DisposalReason/error``.
    /// - Throws: The same as ``Container/dispose(failing:)``.
    public nonisolated(nonsending) func end(failing error: any Error) async throws {
        try await container.core.dispose(reason: DisposalReason(error: error), isEndOfBody: true)
    }

    deinit {
        let core = container.core
        if core.table.isClosed { return }
        _ = core.beginDisposal(reason: DisposalReason(error: ContainerCore.cutShort(core)))
    }
}

extension ContainerCore {
    /// Ends a scope whose work is done.
    ///
    /// - Throws: The one error of a hook, unchanged; `DisposalError`; the error of work that was lost because the scope
    ///   was disposed under it.
    nonisolated(nonsending) func endBody() async throws {
        // Most requests' scopes have nothing to close that takes time.
        if try !disposeAtOnce() {
            do {
                try await dispose(isEndOfBody: true)
            } catch let error as DisposalError where error.errors.count == 1 {
                // The one thing that went wrong, such as a commit that failed.
                throw error.errors[0]
            }
        }
        if let lostWork { throw lostWork }
    }
}
