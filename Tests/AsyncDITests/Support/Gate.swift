@testable import AsyncDI

/// A door that a test opens: earlier arrivals wait, later ones pass.
///
/// It also counts the arrivals.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Waits until the gate is open.
    nonisolated(nonsending) func pass() async {
        arrive()
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Lets everybody through, now and later.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Counts an arrival without waiting.
    ///
    /// - Returns: How many have come.
    @discardableResult
    func arrive() -> Int {
        let (arrivals, ready) = state.withLock { state in
            state.arrivals += 1
            let ready = state.watchers.filter { $0.count <= state.arrivals }
            state.watchers.removeAll { $0.count <= state.arrivals }
            return (state.arrivals, ready)
        }
        for watcher in ready { watcher.continuation.resume() }
        return arrivals
    }

    /// How many have come.
    var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until one arrival, or the given number of them, has come.
    nonisolated(nonsending) func arrived(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals < count { state.watchers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
    }
}
