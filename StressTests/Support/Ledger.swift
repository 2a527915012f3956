/// What was made, what of it was disposed, and in which order.
final class Ledger: Sendable {
    enum Event: Hashable, Sendable {
        case made(Int)
        case disposing(Int)
        case disposed(Int)
    }

    private struct State {
        var made = 0
        var live = 0
        var disposals: [Int: Int] = [:]
        var events: [Event] = []
    }

    private let state = Locked(State())
    private let keepsEvents: Bool

    init(keepsEvents: Bool = false) {
        self.keepsEvents = keepsEvents
    }

    var made: Int { state.withLock { $0.made } }
    /// How many are still in memory.
    var live: Int { state.withLock { $0.live } }
    var events: [Event] { state.withLock { $0.events } }

    /// Nil when everything that was made has been disposed once; else what is wrong.
    var imbalance: String? {
        state.withLock { state in
            let missing = (0..<state.made).filter { state.disposals[$0] == nil }
            let repeated = state.disposals.filter { $0.value > 1 }.keys.sorted()
            if missing.isEmpty && repeated.isEmpty { return nil }
            return "of \(state.made) made: \(missing.count) not disposed \(missing.prefix(5)), "
                + "\(repeated.count) more than once \(repeated.prefix(5))"
        }
    }

    fileprivate func make() -> Int {
        state.withLock { state in
            let id = state.made
            state.made += 1
            state.live += 1
            if keepsEvents { state.events.append(.made(id)) }
            return id
        }
    }

    fileprivate func begin(_ id: Int) {
        state.withLock { state in
            state.disposals[id, default: 0] += 1
            if keepsEvents { state.events.append(.disposing(id)) }
        }
    }

    fileprivate func end(_ id: Int) {
        guard keepsEvents else { return }
        state.withLock { $0.events.append(.disposed(id)) }
    }

    fileprivate func drop() {
        state.withLock { $0.live -= 1 }
    }
}

/// A service that a ledger follows from its making to the end of its memory.
final class Tracked: Sendable {
    let id: Int
    /// What the factory was asked for: a node, an argument, a version.
    let tag: Int
    let dependencies: [Tracked]
    private let ledger: Ledger

    init(tag: Int = 0, dependencies: [Tracked] = [], in ledger: Ledger) {
        self.tag = tag
        self.dependencies = dependencies
        self.ledger = ledger
        id = ledger.make()
    }

    deinit { ledger.drop() }

    func dispose(yielding times: Int = 0) async {
        ledger.begin(id)
        for _ in 0..<times { await Task.yield() }
        ledger.end(id)
    }
}
