/// The one disposal of a container: every call of `dispose` waits for it.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and what is behind a lock.
final class Disposal: Completion, @unchecked Sendable {
    private struct State {
        var current: String?
        /// Why the scope ended before its body did.
        var interruption: ResolutionError?
        var hasRunHooks = false
    }

    /// The container above, which cannot be disposed before this one is.
    private let parent: ContainerCore?
    private let state = Locked(State())

    init(below parent: ContainerCore?) { self.parent = parent }

    /// The disposal of a container waits for everything in it, and for those below it.
    override var isOpen: Bool { true }
    override var outer: [Activity] { parent?.ends ?? [] }

    /// What the disposal is waiting for, for the error of a deadline.
    var current: String? { state.withLock { $0.current } }
    func isWaiting(for what: String?) { state.withLock { $0.current = what } }

    func isInterruption(_ error: ResolutionError) { state.withLock { $0.interruption = error } }
    func noteHooks() { state.withLock { $0.hasRunHooks = true } }
    /// Why a body's work was not completed although the body returned: its scope was disposed under it.
    var lostWork: ResolutionError? { state.withLock { $0.hasRunHooks ? $0.interruption : nil } }
}

/// An instance that is to be disposed, and its disposal.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, and `next`, which belongs to the lock of ``Waits/graph``.
final class Disposable: Completion, @unchecked Sendable {
    /// The instance; nil once it is disposed, because an error that a hook threw leads here.
    ///
    /// Unchecked because the task that disposes the instance takes it out, after everything else that looks at it.
    @exclusivity(unchecked) private(set) var cell: Cell?
    let key: CreationKey
    /// The container that owns the instance.
    let home: any ResolutionHost
    /// What the instance's factory leased: ends after the instance.
    let leases: [any HeldLease]
    /// Why nothing that the instance did is to count, whatever the reason for its disposal is: its creation failed or was cut.
    let failure: (any Error)?
    /// Whether observers were told of its creation, and are to be told of its disposal.
    let isAnnounced: Bool
    /// The leases that the disposal waits for, where there were any.
    ///
    /// Unchecked because it is written under the container's lock, before any creation is told of this disposal.
    @exclusivity(unchecked) var leased: LeasedCell?
    /// The instance that is disposed after this one, in the same task.
    ///
    /// Unchecked because it is touched under the lock of ``Waits/graph`` only.
    @exclusivity(unchecked) private var next: Disposable?

    init(
        _ cell: Cell, _ key: CreationKey, in home: any ResolutionHost, leases: [any HeldLease] = [],
        failure: (any Error)? = nil, isAnnounced: Bool = false
    ) {
        self.cell = cell
        self.key = key
        self.home = home
        self.leases = leases
        self.failure = failure
        self.isAnnounced = isAnnounced
    }

    var recipe: Recipe { key.recipe }
    /// Whether the disposal is nothing but an event.
    var isSilent: Bool { !recipe.hasDisposalHooks && leases.isEmpty }

    /// Its leases, and the instances that are disposed before it in the same task, name it.
    override var isOpen: Bool { true }

    /// A container's disposal waits for its instances', what an instance leased for the instance, and those that are disposed in one
    /// task for those before them.
    override var outer: [Activity] {
        var outer = home.ends
        for lease in leases { outer += lease.outer }
        if let next { outer.append(next) }
        return outer
    }

    /// The instance is disposed: every waiter goes on.
    func end() {
        finish()
        isFollowed(by: nil)
        let dropped = (cell, leased)
        cell = nil
        leased = nil
        withExtendedLifetime(dropped) {}
    }

    /// Another instance is disposed after this one, or none any more.
    func isFollowed(by other: Disposable?) {
        let old = Waits.graph.withLock { _ in
            defer { next = other }
            return next
        }
        // Released outside the lock: an instance's deinitializer is user code.
        withExtendedLifetime(old) {}
    }

    /// Waits for the end of the disposal, on behalf of the creation of the instance's successor.
    func isOver(before creation: Creation, in frame: Frame) async throws {
        if hasEnded { return }
        let suspension = Suspension()
        if let frames = Waits.begin(suspension, from: Asker(activity: creation, frame: frame), for: self) {
            // A hook may ask for the new instance, but where each key has its instance one must never meet the other.
            guard recipe.lifetime.kind == .multiton else { return }
            throw ResolutionError.circular(
                (frame.path + frames.flatMap(\.pathInCreation) + [frame.step]).upToFirstRepetition, asker: frame)
        }
        defer { Waits.end(suspension) }
        while !hasEnded {
            if leased?.isLeasedForLong == true {
                // What holds the lease lives as long as the container: its end may never come.
                guard recipe.lifetime.kind == .multiton else { return }
                throw ResolutionError(
                    .invalidOperation,
                    "\(recipe.key) was dropped while it is leased by an instance that lives as long as \(home.displayName).",
                    advice: "Reset that instance first, or lease in a scope.", steps: frame.path, asker: frame)
            }
            try await waitUnlessWoken()
        }
    }
}
