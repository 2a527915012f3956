/// Creates each instance once, in its own task, which begins in the caller's thread.
///
/// It has no events, no cycle detection, no hooks, and no end for waiters that give up.
///
/// `@unchecked Sendable` because the dictionaries are touched only while the mutex is held.
final class SharedFactories: @unchecked Sendable {
    typealias Make<Value> = nonisolated(nonsending) @Sendable (SharedFactories) async throws -> Value

    /// The key under which a request's body finds its own instances.
    @TaskLocal static var current: SharedFactories?

    /// Where the factories are, when not here.
    private let parent: SharedFactories?
    private let mutex = Mutex()
    private var factories: [ObjectIdentifier: Cell] = [:]
    private var instances: [ObjectIdentifier: Cell] = [:]
    private var flights: [ObjectIdentifier: Flight] = [:]
    private var scopes: [SharedFactories] = []
    private var isClosed = false

    init(in parent: SharedFactories? = nil) { self.parent = parent }

    /// A place within this one, which must be found when this one ends.
    func openScope() -> SharedFactories {
        let scope = SharedFactories(in: self)
        mutex.withLock { scopes.append(scope) }
        return scope
    }

    /// The place answers no request any more, and its parent forgets it.
    func close() {
        let instances = mutex.withLock {
            isClosed = true
            defer { self.instances = [:] }
            return self.instances
        }
        parent?.forget(self)
        withExtendedLifetime(instances) {}
    }

    private func forget(_ scope: SharedFactories) { mutex.withLock { scopes.removeAll { $0 === scope } } }

    func register<Value: Sendable>(_ type: Value.Type, _ make: @escaping Make<Value>) {
        mutex.withLock { factories[ObjectIdentifier(type)] = TypedCell(make) }
    }

    private func factory<Value>(of type: Value.Type) throws -> Make<Value> {
        if let parent { return try parent.factory(of: type) }
        return try mutex.withLock {
            guard let cell = factories[ObjectIdentifier(type)] else { throw Missing() }
            return unsafeDowncast(cell, to: TypedCell<Make<Value>>.self).value
        }
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        let key = ObjectIdentifier(type)
        let make = try factory(of: type)
        let flight = Flight()
        let (instance, other) = try mutex.withLock { () throws -> (Cell?, Flight?) in
            if isClosed { throw Missing() }
            if let cell = instances[key] { return (cell, nil) }
            if let other = flights[key] { return (nil, other) }
            flights[key] = flight
            return (nil, nil)
        }
        if let instance { return unsafeDowncast(instance, to: TypedCell<Value>.self).value }
        // No other task makes requests where this is measured.
        if other != nil { throw Missing() }
        let task = start {
            let result: Result<Cell, any Error>
            do {
                result = .success(
                    try await Flight.$current.withValue(flight) { TypedCell(try await make(self)) })
            } catch {
                result = .failure(error)
            }
            self.mutex.withLock {
                self.flights[key] = nil
                if case .success(let cell) = result { self.instances[key] = cell }
                flight.outcome = result
            }
        }
        if let result = mutex.withLock({ flight.outcome }) {
            return unsafeDowncast(try result.get(), to: TypedCell<Value>.self).value
        }
        await task.value
        guard let result = mutex.withLock({ flight.outcome }) else { throw Missing() }
        return unsafeDowncast(try result.get(), to: TypedCell<Value>.self).value
    }
}

/// One run of a factory, to which its requests belong.
///
/// `@unchecked Sendable` because the outcome is touched only under the lock of the place that the flight is in.
private final class Flight: @unchecked Sendable {
    @TaskLocal static var current: Flight?
    var outcome: Result<Cell, any Error>?
}

/// Begins at once where the runtime can.
private func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, *) {
        Task.immediateDetached(priority: Task.currentPriority, operation: operation)
    } else {
        Task.detached(priority: Task.currentPriority, operation: operation)
    }
}
