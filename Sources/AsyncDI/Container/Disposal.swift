/// The one disposal of a container: whoever calls `dispose` while it runs waits for this.
final class Disposal: Sendable {
    private struct State {
        var errors: [any Error] = []
        var isDone = false
        var current: String?
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// Whose deadline came before they waited.
        var givenUp: Set<Int> = []
        var nextWaiter = 0
    }

    private let state = Locked(State())

    /// What is being waited for just now, for the error of a deadline.
    var current: String? { state.withLock { $0.current } }
    func isWaiting(for what: String?) { state.withLock { $0.current = what } }
    func add(_ error: any Error) { state.withLock { $0.errors.append(error) } }
    var errors: [any Error] { state.withLock { $0.errors } }

    func finish() {
        let waiters = state.withLock { state in
            state.isDone = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits for the end, or until the deadline task gives up.
    ///
    /// Not even cancellation ends it earlier.
    ///
    /// - Returns: Whether the disposal has ended.
    func wait(atMost duration: Duration?, clock: any Clock<Duration>) async -> Bool {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        let timer = duration.map { duration in
            Task.detached {
                try await clock.sleep(for: duration)
                self.giveUp(id)
            }
        }
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let hasEnded: Bool? = state.withLock { state in
                if state.isDone { return true }
                // The timer runs beside this task, and a short one may be the faster.
                if state.givenUp.remove(id) != nil { return false }
                state.waiters[id] = continuation
                return nil
            }
            if let hasEnded { continuation.resume(returning: hasEnded) }
        }
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil, !state.isDone { state.givenUp.insert(id) }
            return waiter
        }
        waiter?.resume(returning: false)
    }
}

/// Who disposes what, as far as the current task is concerned.
enum DisposalContext {
    /// The container whose disposal hook this task, or the task that started it, runs.
    @TaskLocal static var disposing: ContainerCore?

    /// For each container, those whose disposal its own waits for: parents for scopes, hooks for what they dispose.
    private static let waits = Locked<[ObjectIdentifier: [ObjectIdentifier: Int]]>([:])

    /// Notes that the disposal of one container waits for that of another.
    ///
    /// - Returns: False, and nothing is noted, when the other one (in the end) waits for the first.
    static func beginWait(of waiting: ContainerCore, for other: ContainerCore) -> Bool {
        let from = ObjectIdentifier(waiting)
        let to = ObjectIdentifier(other)
        return waits.withLock { waits in
            var seen: Set<ObjectIdentifier> = [to]
            var next = [to]
            while let current = next.popLast() {
                if current == from { return false }
                for target in (waits[current] ?? [:]).keys where seen.insert(target).inserted { next.append(target) }
            }
            waits[from, default: [:]][to, default: 0] += 1
            return true
        }
    }

    static func endWait(of waiting: ContainerCore, for other: ContainerCore) {
        let from = ObjectIdentifier(waiting)
        let to = ObjectIdentifier(other)
        waits.withLock { waits in
            guard let count = waits[from]?[to] else { return }
            waits[from]![to] = count > 1 ? count - 1 : nil
            if waits[from]!.isEmpty { waits[from] = nil }
        }
    }
}
