/// Closed until it is opened; then every task passes, for good.
///
/// Waiting ignores cancellation, like a factory that does not support it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if passes { continuation.resume() }
        }
        // The lock orders the code before `open` with the code after the wait. For ThreadSanitizer, a continuation
        // alone does not, when it is resumed while its task is still suspending.
        precondition(isOpen)
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Opens when a known number of tasks have arrived, so that all of them are at the same point at once.
final class Rendezvous: Sendable {
    private let missing: Locked<Int>
    private let gate = Gate()

    init(of count: Int) {
        missing = Locked(count)
        if count == 0 { gate.open() }
    }

    func arrive() {
        let remaining = missing.withLock { missing in
            missing -= 1
            return missing
        }
        if remaining == 0 { gate.open() }
    }

    func arriveAndWait() async {
        arrive()
        await gate.wait()
    }
}
