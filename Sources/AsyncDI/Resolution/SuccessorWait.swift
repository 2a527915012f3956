import Synchronization

/// The wait of a creation for the disposal of the previous instance of its key.
///
/// It yields where it would be part of a cycle: a hook, a lease's body or a dependent may then have the new instance
/// beside the old one. Only the instances of a multiton never exist beside each other.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and an atomic.
final class SuccessorWait: Suspension, @unchecked Sendable {
    private let disposal: Disposable
    /// The value of ``Disposable/holdersBelow`` when the creation was decided on.
    private let holdersBelow: Int
    private let hasYielded = Atomic(false)

    init(for disposal: Disposable, holdersBelow: Int) {
        self.disposal = disposal
        self.holdersBelow = holdersBelow
    }

    var yields: Bool { disposal.binding.lifetime.kind != .multiton }

    /// Ends the wait; called outside every lock.
    func yield() {
        // Before the waiter checks again.
        hasYielded.store(true, ordering: .sequentiallyConsistent)
        disposal.wake()
    }

    /// The error for a cycle through a creation whose predecessor is leased until the cycle has ended; nil if it is not
    /// leased.
    func leasedAround(_ steps: @autoclosure () -> [PathStep], asker: Run?) -> ResolutionError? {
        if disposal.leasesAwaited == nil { return nil }
        return ResolutionError(
            .circularDependency,
            "\(disposal.key.binding.key) was reset or replaced while its instance is leased; its successor is created "
                + "when the lease ends, which waits for this request.",
            advice: "Request it outside the body that holds the lease, or reset it after the body.",
            steps: steps(), asker: asker)
    }

    /// Waits for the end of the disposal.
    ///
    /// - Parameters:
    ///   - creation: The creation.
    ///   - run: The run of the creation.
    /// - Returns: False when an instance of another container, or a body, has become a holder of a lease: it may end
    ///   after the requests that wait for the creation, which must then be decided on again.
    /// - Throws: The error for a wait that would never end; `CancellationError`.
    func isOver(before creation: Creation, in run: Run) async throws -> Bool {
        if disposal.hasEnded { return true }
        if let runs = Waits.begin(self, from: Caller(activity: creation, run: run), for: disposal) {
            if yields { return true }
            let steps = run.cycle(through: runs)
            throw leasedAround(steps, asker: run) ?? .circular(steps, through: runs, asker: run)
        }
        defer { Waits.end(self) }
        while !disposal.hasEnded {
            let wakes = disposal.wakes
            if hasYielded.load(ordering: .sequentiallyConsistent) { return true }
            if disposal.isLeasedForLong {
                if yields { return true }
                throw disposal.leasedForLong(run)
            }
            if disposal.holdersBelow != holdersBelow { return disposal.hasEnded }
            if try await disposal.waitUnlessWoken(since: wakes) { return true }
        }
        return true
    }
}
