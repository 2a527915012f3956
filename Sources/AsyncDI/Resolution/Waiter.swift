import Synchronization

/// One suspended request for an instance in creation: a promise that is kept once, by the first outcome.
///
/// A creation's end, a cancellation and a disposal may all try to resume a waiter; the first outcome counts and the
/// others are ignored, so that the continuation is resumed exactly once.
///
/// There may be thousands for one creation: each is one object, and takes no lock.
///
/// `@unchecked Sendable` because `kept` is written by the thread that set the claimed bit of `state`, and read only
/// once `state` was seen to be done.
@usableFromInline final class Waiter: Suspension, @unchecked Sendable {
    enum Outcome: Sendable {
        case instance(Cell)
        /// The same, leased in the step that ended the creation: it cannot be disposed before the waiter runs.
        case leased(Cell, any HeldLease)
        case failure(any Error)
        /// The creation was cancelled on behalf of others: look again.
        case retry
        case cancelled
        /// The container is disposed.
        case disposed
    }

    /// The object of its wait.
    let creation: Creation
    /// Whether it is to be given a lease with the instance.
    let takesLease: Bool
    /// Unchecked because only the claimer of the promise touches it until it is done.
    @exclusivity(unchecked) private var kept: Outcome?
    /// The bits of the continuation, zero before there is one, with the claimed bit once the promise is being kept;
    /// then done.
    private let state = Atomic<UInt>(0)
    /// Never set in a continuation, which is the address of something larger than a byte.
    private static let claimedBit: UInt = 1
    private static let done: UInt = 3

    init(for creation: Creation, takesLease: Bool = false) {
        self.creation = creation
        self.takesLease = takesLease
    }

    /// Keeps the promise, unless it is kept already.
    ///
    /// - Returns: Whether this outcome is the one that counts: a lease that comes too late must be ended.
    @discardableResult
    func resume(_ outcome: Outcome) -> Bool {
        var seen = state.load(ordering: .relaxed)
        while true {
            if seen & Self.claimedBit != 0 { return false }
            let (isClaimed, now) = state.compareExchange(
                expected: seen, desired: seen | Self.claimedBit, ordering: .acquiringAndReleasing)
            if isClaimed { break }
            seen = now
        }
        kept = outcome
        // The continuation may have come since the promise was claimed: it is looked at only now, when it will find the
        // outcome.
        let bits = state.exchange(Self.done, ordering: .acquiringAndReleasing) & ~Self.claimedBit
        // Unchecked because these are the bits that ``suspend(_:)`` made of a continuation.
        if bits != 0 { unsafeBitCast(bits, to: UnsafeContinuation<Void, Never>.self).resume() }
        return true
    }

    /// How the promise was kept, nil when it is not yet.
    var outcomeIfThere: Outcome? { state.load(ordering: .acquiring) == Self.done ? kept : nil }

    /// Suspends until the promise is kept; one task does.
    ///
    /// The priority of this task reaches the creation, also one that it is raised to meanwhile.
    @inline(__always)
    nonisolated(nonsending) func wait() async {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            await withTaskPriorityEscalationHandler {
                // Only here: an earlier escalation is seen now, a later one by the handler.
                creation.escalate(to: Task.currentPriority)
                await withUnsafeContinuation { suspend($0) }
            } onPriorityEscalated: { _, new in
                creation.escalate(to: new)
            }
        } else {
            await withUnsafeContinuation { suspend($0) }
        }
    }

    /// Waits for the outcome; a cancellation of the task is one.
    func settled(isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            // Captured so that the closure and the code after it stay on the caller's executor.
            _ = isolation
            await wait()
        } onCancel: {
            // The edge is removed first, so that the search for cycles does not follow a request that has ended. If the
            // creation's end has already resumed the waiter, all three calls do nothing.
            Waits.end(self)
            resume(.cancelled)
            creation.place.leave(self)
        }
    }

    /// How the promise was kept, for the task that was resumed.
    ///
    /// Not passed through the continuation: one that is resumed while its task is still suspending is invisible to
    /// ThreadSanitizer.
    var outcome: Outcome {
        guard let outcome = outcomeIfThere else { preconditionFailure("a waiter is resumed with an outcome") }
        return outcome
    }

    /// Resumes the task when the promise is kept, at once when it is.
    private func suspend(_ continuation: UnsafeContinuation<Void, Never>) {
        // Unchecked because a continuation is one pointer; should that change, this traps.
        let bits = unsafeBitCast(continuation, to: UInt.self)
        var seen: UInt = 0
        while seen != Self.done {
            precondition(seen & ~Self.claimedBit == 0, "one task waits for a promise")
            let (isSuspended, now) = state.compareExchange(
                expected: seen, desired: bits | seen, ordering: .acquiringAndReleasing)
            if isSuspended { return }
            seen = now
        }
        continuation.resume()
    }
}
