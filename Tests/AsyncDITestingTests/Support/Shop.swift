import AsyncDI

@testable import AsyncDITesting

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
    private let state = Locked<[Element]>([])

    var all: [Element] { state.withLock { $0 } }
    func append(_ element: Element) { state.withLock { $0.append(element) } }
}

/// Opened once; until then, tasks wait.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.last += 1
                if !state.isOpen { state.waiters[state.last] = continuation }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func waitUnlessCancelled() async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOpen || state.cancelled.contains(id) { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled.insert(id)
                return state.waiters.removeValue(forKey: id)
            }
            waiter?.resume()
        }
        try Task.checkCancellation()
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }
}
