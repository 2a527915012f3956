import AsyncDI
import Synchronization

/// A server's request, from its arrival to its commit.
func registerRequests() {
    compare("request", operations: 500) {
        let (ours, theirs) = (Database(), Database())
        let (container, server) = (server(over: ours), HandWiredServer(theirs))
        return .each {
            try await handle($0, in: container, over: ours)
        } baseline: {
            try await handle($0, by: server, over: theirs)
        }
    }
    compare("floor-request", operations: 500) {
        let (floors, theirs) = (Database(), Database())
        let (container, server) = (floorServer(), HandWiredServer(theirs))
        return .each { operations in
            let before = floors.commits
            for index in 0..<operations {
                let response = try await handle(
                    index + 1, of: tenants[index % tenants.count], in: container, over: floors)
                precondition(response > 0)
            }
            precondition(floors.commits == before + operations)
        } baseline: {
            try await handle($0, by: server, over: theirs)
        }
    }
    compare("request-2-tasks", operations: 500) {
        let database = Database()
        let container = server(over: database)
        return .each { operations in
            let before = database.commits
            try await concurrently(2) { try await respond(to: operations / 2, in: container) }
            precondition(database.commits == before + operations / 2 * 2)
        } baseline: {
            try await handle($0, in: container, over: database)
        }
    }
    compareObserved("request-failures", by: FailureCounter())
    compareObserved("request-observed", by: Gauge())
}

private func compareObserved(_ name: String, by observer: any ContainerObserver) {
    compare(name, operations: 500) {
        let database = Database()
        let (plain, observed) = (server(over: database), server(over: database, observers: [observer]))
        return .each {
            try await handle($0, in: observed, over: database)
        } baseline: {
            try await handle($0, in: plain, over: database)
        }
    }
}

private func server(over database: Database, observers: [any ContainerObserver] = []) -> Container {
    Container(observers: observers) {
        Registration(expected: IncomingRequest.self)
        Registration(expected: Trace.self)
        Registration(TenantPool.self, lifetime: .multiton) { (_, tenant: String) in TenantPool(tenant, of: database) }
        Registration(UnitOfWork.self, lifetime: .scoped) { r in
            let request = try await r.resolve(IncomingRequest.self)
            return UnitOfWork(
                pool: try await r.resolve(TenantPool.self, arguments: request.tenant), request: request)
        }
        .onDispose { unit, reason in
            if reason.error == nil { try await unit.commit() } else { await unit.rollBack() }
        }
        Registration(using: OrderRepository.init)
        Registration(using: OrderHandler.init)
    }
}

private nonisolated(nonsending) func handle(
    _ requests: Int, in container: Container, over database: Database
) async throws {
    let before = database.commits
    try await respond(to: requests, in: container)
    precondition(database.commits == before + requests)
}

private nonisolated(nonsending) func respond(to requests: Int, in container: Container) async throws {
    for index in 0..<requests {
        let response = try await handle(index + 1, of: tenants[index % tenants.count], in: container)
        precondition(response > 0)
    }
}

private nonisolated(nonsending) func handle(
    _ requests: Int, by server: HandWiredServer, over database: Database
) async throws {
    let before = database.commits
    for index in 0..<requests {
        let response = try await server.handle(index + 1, of: tenants[index % tenants.count])
        precondition(response > 0)
    }
    precondition(database.commits == before + requests)
}

/// The lease is around the scope: the unit of work is committed before the pool may be closed.
@inline(never)
private nonisolated(nonsending) func handle(
    _ number: Int, of tenant: String, in container: Container
) async throws -> Int {
    try await container.withInstance(TenantPool.self, arguments: tenant) { _ in
        try await container.withScope("request") {
            Registration(instance: IncomingRequest(number: number, tenant: tenant))
            Registration(instance: Trace(number: number))
        } operation: { _ in
            try await container.resolve(OrderHandler.self).respond()
        }
    }
}

/// The same services in the least that a container needs.
private func floorServer() -> FloorContainer {
    let container = FloorContainer()
    container.register(UnitOfWork.self, isScoped: true) { cell, failure in
        let unit = unsafeDowncast(cell, to: TypedCell<UnitOfWork>.self).value
        if failure == nil { try await unit.commit() } else { await unit.rollBack() }
    } _: { scope in
        let request = try await scope.resolve(IncomingRequest.self)
        return UnitOfWork(pool: try scope.pool(of: request.tenant), request: request)
    }
    container.register(OrderRepository.self) { scope in
        OrderRepository(unit: try await scope.resolve(UnitOfWork.self), trace: try await scope.resolve(Trace.self))
    }
    container.register(OrderHandler.self) { scope in
        OrderHandler(
            repository: try await scope.resolve(OrderRepository.self),
            request: try await scope.resolve(IncomingRequest.self))
    }
    return container
}

@inline(never)
private nonisolated(nonsending) func handle(
    _ number: Int, of tenant: String, in container: FloorContainer, over database: Database
) async throws -> Int {
    try await container.withPool(of: tenant, opening: { TenantPool($0, of: database) }) {
        try await container.withScope {
            $0.supply(IncomingRequest(number: number, tenant: tenant))
            $0.supply(Trace(number: number))
        } _: { scope in
            try await scope.resolve(OrderHandler.self).respond()
        }
    }
}

/// Ignores every event except those that page an operator at night.
private final class FailureCounter: ContainerObserver {
    private let count = Atomic(0)
    var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

    func container(_ container: Container, did event: ContainerEvent) {
        switch event {
        case .failed, .stalled: count.add(1, ordering: .relaxed)
        default: break
        }
    }
}

/// Knows how many instances and scopes there are, as a metrics backend would.
private final class Gauge: ContainerObserver {
    private let registrations = Atomic(0)
    private let instances = Atomic(0)
    private let scopes = Atomic(0)
    private let failures = Atomic(0)

    func container(_ container: Container, did event: ContainerEvent) {
        switch event {
        case .registered: registrations.add(1, ordering: .relaxed)
        case .created: instances.add(1, ordering: .relaxed)
        case .disposed: instances.subtract(1, ordering: .relaxed)
        case .scopeOpened: scopes.add(1, ordering: .relaxed)
        case .scopeClosed: scopes.subtract(1, ordering: .relaxed)
        case .failed, .stalled: failures.add(1, ordering: .relaxed)
        case .evicted: break
        @unknown default: break
        }
    }
}
