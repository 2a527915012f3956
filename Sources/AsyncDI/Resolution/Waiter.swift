/// One suspended request: a promise that is kept once, by whoever comes first.
///
/// A creation's end, a cancellation and a disposal may all try to resume a waiter; the first outcome counts and the others
/// are ignored, so that the continuation is resumed exactly once.
final class Waiter: Sendable, Hashable {
    enum Outcome: Sendable {
        case instance(Cell)
        /// The same, leased in the step that ended the creation: nobody can have disposed it before the waiter runs.
        case leased(Cell, any HeldLease)
        case failure(any Error)
        /// The creation was cancelled on behalf of others: look again.
        case retry
        case cancelled
        /// The container is disposed.
        case disposed
    }

    private enum State {
        case pending
        case suspended(UnsafeContinuation<Void, Never>)
        case done(Outcome)
    }

    /// Whether it is to be given a lease with the instance.
    let takesLease: Bool
    private let state = Locked(State.pending)

    init(takesLease: Bool = false) { self.takesLease = takesLease }

    /// Keeps the promise, unless it is kept already.
    ///
    /// - Returns: Whether this outcome is the one that counts: a lease that comes too late must be ended.
    @discardableResult
    func resume(_ outcome: Outcome) -> Bool {
        let (counts, continuation): (Bool, UnsafeContinuation<Void, Never>?) = state.withLock { state in
            switch state {
            case .pending:
                state = .done(outcome)
                return (true, nil)
            case .suspended(let continuation):
                state = .done(outcome)
                return (true, continuation)
            case .done:
                return (false, nil)
            }
        }
        continuation?.resume()
        return counts
    }

    /// How the promise was kept, nil when it is not yet.
    var outcomeIfThere: Outcome? {
        state.withLock { state in
            guard case .done(let outcome) = state else { return nil }
            return outcome
        }
    }

    /// Suspends until the promise is kept.
    nonisolated(nonsending) func outcome() async -> Outcome {
        await withUnsafeContinuation { continuation in
            let isDone = state.withLock { state in
                if case .done = state { return true }
                state = .suspended(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
        // The outcome is read again under the lock rather than passed through the continuation: a continuation resumed while its
        // task is still suspending is invisible to ThreadSanitizer.
        return state.withLock { state in
            guard case .done(let outcome) = state else { preconditionFailure("a waiter is resumed with an outcome") }
            return outcome
        }
    }

    static func == (first: Waiter, second: Waiter) -> Bool { first === second }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
