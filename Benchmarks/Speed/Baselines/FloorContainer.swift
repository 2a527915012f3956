/// The least that a container needs for a server's request: what each guarantee takes by itself, and nothing else.
///
/// A scope is a place of its own, which its parent knows and a task-local identifies. A scoped instance is created
/// once, in a task that the cancellation of its requester does not end. A factory has a task-local bound around it, so
/// that a request made in it belongs to it. A leased instance counts its leases, and a task-local says whose lease it
/// is. The scope's hooks run in a task that does not see the caller's cancellation. It has no events, no cycle
/// detection, no overrides, no replacement of registrations, no graph, and no error but one.
///
/// `@unchecked Sendable` because the variables are touched only while the mutex is held.
final class FloorContainer: @unchecked Sendable {
    typealias Make<Value> = nonisolated(nonsending) @Sendable (FloorContainer) async throws -> Value
    typealias Hook = @Sendable (_ instance: Cell, _ failure: (any Error)?) async throws -> Void

    private final class Factory: Sendable {
        let cell: Cell
        let isScoped: Bool
        let hook: Hook?

        init(_ cell: Cell, isScoped: Bool, hook: Hook?) {
            self.cell = cell
            self.isScoped = isScoped
            self.hook = hook
        }
    }

    /// The run of a factory, or the body of a lease, to which requests belong.
    private final class Run: Sendable {
        @TaskLocal static var current: Run?
        @TaskLocal static var lease: Run?
    }

    /// The creation of a scoped instance.
    private final class Flight: @unchecked Sendable {
        var outcome: Result<Cell, any Error>?
    }

    private actor Handle {
        nonisolated let container: FloorContainer

        init(_ container: FloorContainer) { self.container = container }
    }

    @TaskLocal static var current: FloorContainer?

    private let parent: FloorContainer?
    private let mutex = Mutex()
    private var factories: [ObjectIdentifier: Factory] = [:]
    private var instances: [ObjectIdentifier: Cell] = [:]
    private var flights: [ObjectIdentifier: Flight] = [:]
    private var hooks: [(hook: Hook, instance: Cell)] = []
    private var scopes: [ObjectIdentifier: FloorContainer] = [:]
    private var multitons: [String: (instance: TenantPool, leases: Int)] = [:]
    private var isClosed = false

    init(in parent: FloorContainer? = nil) { self.parent = parent }

    // MARK: Registration

    func register<Value: Sendable>(
        _ type: Value.Type, isScoped: Bool = false, hook: Hook? = nil, _ make: @escaping Make<Value>
    ) {
        mutex.withLock { factories[ObjectIdentifier(type)] = Factory(TypedCell(make), isScoped: isScoped, hook: hook) }
    }

    func supply<Value: Sendable>(_ value: Value) {
        mutex.withLock { instances[ObjectIdentifier(Value.self)] = TypedCell(value) }
    }

    private func factory(_ key: ObjectIdentifier) throws -> Factory {
        if let parent { return try parent.factory(key) }
        return try mutex.withLock {
            guard let factory = factories[key] else { throw Missing() }
            return factory
        }
    }

    // MARK: Requests

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        let key = ObjectIdentifier(type)
        let instance = try mutex.withLock {
            if isClosed { throw Missing() }
            return instances[key]
        }
        if let instance { return unsafeDowncast(instance, to: TypedCell<Value>.self).value }
        let factory = try factory(key)
        let make = unsafeDowncast(factory.cell, to: TypedCell<Make<Value>>.self).value
        guard factory.isScoped else { return try await run(make) }
        let flight = Flight()
        try mutex.withLock {
            // No other task makes requests where this is measured.
            if isClosed || flights[key] != nil { throw Missing() }
            flights[key] = flight
        }
        let task = start {
            let result: Result<Cell, any Error>
            do {
                result = .success(TypedCell(try await self.run(make)))
            } catch {
                result = .failure(error)
            }
            self.mutex.withLock {
                self.flights[key] = nil
                if case .success(let cell) = result {
                    self.instances[key] = cell
                    if let hook = factory.hook { self.hooks.append((hook, cell)) }
                }
                flight.outcome = result
            }
        }
        if mutex.withLock({ flight.outcome == nil }) { await task.value }
        guard let result = mutex.withLock({ flight.outcome }) else { throw Missing() }
        return unsafeDowncast(try result.get(), to: TypedCell<Value>.self).value
    }

    private func run<Value: Sendable>(
        _ make: Make<Value>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await Run.$current.withValue(Run()) {
            _ = isolation
            return try await make(self)
        }
    }

    // MARK: Leases

    func pool(of tenant: String) throws -> TenantPool {
        if let parent { return try parent.pool(of: tenant) }
        return try mutex.withLock {
            guard let entry = multitons[tenant] else { throw Missing() }
            return entry.instance
        }
    }

    func withPool<R>(
        of tenant: String, opening open: (String) -> TenantPool, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async throws -> R {
        mutex.withLock {
            multitons[tenant, default: (open(tenant), 0)].leases += 1
        }
        defer { mutex.withLock { multitons[tenant]?.leases -= 1 } }
        return try await Run.$lease.withValue(Run()) {
            _ = isolation
            return try await body()
        }
    }

    // MARK: Scopes

    func withScope<R>(
        _ supply: (FloorContainer) -> Void, isolation: isolated (any Actor)? = #isolation,
        _ body: (FloorContainer) async throws -> R
    ) async throws -> R {
        let scope = FloorContainer(in: self)
        supply(scope)
        mutex.withLock { scopes[ObjectIdentifier(scope)] = scope }
        let handle = Handle(scope)
        let response: R
        do {
            response = try await FloorContainer.$current.withValue(scope) {
                _ = isolation
                return try await body(handle.container)
            }
        } catch {
            try? await scope.close(because: error)
            throw error
        }
        try await scope.close(because: nil)
        return response
    }

    private func close(because error: (any Error)?, isolation: isolated (any Actor)? = #isolation) async throws {
        let (hooks, instances) = mutex.withLock {
            isClosed = true
            defer { (self.hooks, self.instances) = ([], [:]) }
            return (self.hooks, self.instances)
        }
        parent?.forget(self)
        defer { withExtendedLifetime(instances) {} }
        if hooks.isEmpty { return }
        let flight = Flight()
        let task = startDetached {
            for (hook, instance) in hooks.reversed() {
                do {
                    try await Run.$current.withValue(Run()) { try await hook(instance, error) }
                } catch {
                    self.mutex.withLock { flight.outcome = .failure(error) }
                }
            }
            self.mutex.withLock { flight.outcome = flight.outcome ?? .success(hooks[0].instance) }
        }
        if mutex.withLock({ flight.outcome == nil }) { await task.value }
        _ = try mutex.withLock { try flight.outcome?.get() }
    }

    private func forget(_ scope: FloorContainer) {
        mutex.withLock { _ = scopes.removeValue(forKey: ObjectIdentifier(scope)) }
    }
}

/// Begins at once where the runtime can, and sees the task-locals of the caller.
private func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, *) {
        Task.immediate(priority: Task.currentPriority, operation: operation)
    } else {
        Task(priority: Task.currentPriority, operation: operation)
    }
}

private func startDetached(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, *) {
        Task.immediateDetached(priority: Task.currentPriority, operation: operation)
    } else {
        Task.detached(priority: Task.currentPriority, operation: operation)
    }
}
