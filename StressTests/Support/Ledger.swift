/// The instances that were created, those that were disposed, and the order.
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
    /// The number of instances in memory.
    var live: Int { state.withLock { $0.live } }
    var events: [Event] { state.withLock { $0.events } }

    /// Nil when every created instance has been disposed once; otherwise the discrepancy.
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

/// A service that a ledger follows from its creation to its deallocation.
final class Tracked: Sendable {
    let id: Int
    /// The subject of the factory's request: a node, an argument, a version.
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
