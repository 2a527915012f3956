@testable import AsyncDI

/// Counts from any task.
final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    @discardableResult
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Collects from any task.
final class Log<Entry: Sendable>: Sendable {
    private let state = Locked([Entry]())
    var entries: [Entry] { state.withLock { $0 } }
    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
}

/// An object that is identified by its reference, with the number of the factory run that created it.
final class Thing: Sendable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}

/// A service that keeps its resolver.
final class Keeper: Sendable {
    let resolver: Resolver
    init(_ resolver: Resolver) { self.resolver = resolver }
}

struct TestError: Error, Equatable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}

extension ContainerCore {
    /// How many waiters the creation of a service has, so that a test can wait for them to be there.
    func waiterCount(of service: any Any.Type) -> Int {
        withState { state in
            state.flights.entries.values.filter { $0.key.binding.key.service == service }.map(\.waiters.count).reduce(
                0, +)
        }
    }

    /// Yields until as many wait: how a test knows that tasks have suspended, without sleeping.
    func waiters(of service: any Any.Type, reach count: Int) async {
        while waiterCount(of: service) != count { await Task.yield() }
    }
}
