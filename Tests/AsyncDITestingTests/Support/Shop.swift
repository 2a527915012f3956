import AsyncDI
import Synchronization

/// A small application, which the tests override.
protocol Gateway: Sendable {
    var name: String { get }
}

struct RealGateway: Gateway {
    var name: String { "real" }
}

struct FakeGateway: Gateway {
    var name = "fake"
}

struct Checkout: Sendable {
    let gateway: any Gateway
}

actor Ledger {
    private(set) var entries: [String] = []
    func note(_ entry: String) { entries.append(entry) }
}

struct ShopModule: Module {
    var registrations: Registrations {
        Registration((any Gateway).self, lifetime: .singleton) { _ in RealGateway() }
        Registration(using: Checkout.init)
        Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }
        Registration(String.self, qualifier: "host", instance: "localhost")
    }
}

struct TestError: Error, Equatable {
    var number = 0
}

/// Values that several tasks add.
final class Log<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])

    var all: [Element] { state.withLock { $0 } }
    func append(_ element: Element) { state.withLock { $0.append(element) } }
}

/// Opened once; until then, tasks wait.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
