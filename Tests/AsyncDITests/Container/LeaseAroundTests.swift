import Testing

@testable import AsyncDI

private final class Pool: Sendable {}
private final class UnitOfWork: Sendable {
    let pool: Pool
    init(_ pool: Pool) { self.pool = pool }
}

/// An instance that is reset while an instance of the request's own scope leases it.
@Suite(.timeLimit(.minutes(10))) struct LeaseAroundTests {
    private let root = Container {
        Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }.onDispose { (_: Pool) in }
        Registration(Pool.self, lifetime: .singleton) { _ in Pool() }.onDispose { (_: Pool) in }
        Registration(UnitOfWork.self, lifetime: .scoped) { r in
            UnitOfWork(try await r.lease(Pool.self, arguments: "acme"))
        }
        Registration(UnitOfWork.self, qualifier: "single", lifetime: .scoped) { r in
            UnitOfWork(try await r.lease(Pool.self))
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `a request that would wait for the end of its own scope is refused`(isLease: Bool, isNested: Bool) async throws
    {
        try await root.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await root.reset(Pool.self, arguments: "acme")
            let asked = isNested ? try await scope.openScope() : scope
            await expect(.invalidOperation) {
                if isLease {
                    try await asked.withInstance(Pool.self, arguments: "acme") { _ in }
                } else {
                    _ = try await asked.resolve(Pool.self, arguments: "acme")
                }
            }
            // The others are not concerned.
            _ = try await asked.resolve(Pool.self, arguments: "other")
        }
        _ = try await root.resolve(Pool.self, arguments: "acme")
    }

    enum Inside: CaseIterable { case child, grandchild }

    /// A container inside a request's scope, which ends with the scope at the latest.
    private func container(_ inside: Inside, in scope: Container) -> Container {
        switch inside {
        case .child: Container(parent: scope)
        case .grandchild: Container(parent: Container(parent: scope))
        }
    }

    @Test(arguments: Inside.allCases, [true, false])
    func `a request is refused while a container that was created in its scope has the lease`(
        inside: Inside, isFromRoot: Bool
    ) async throws {
        try await finishes {
            try await root.withScope("request") { scope in
                let holder = container(inside, in: scope)
                _ = try await holder.resolve(UnitOfWork.self)
                try await root.reset(Pool.self, arguments: "acme")
                let error = await expect(.invalidOperation) {
                    try await (isFromRoot ? root : scope).resolve(Pool.self, arguments: "acme")
                }
                #expect(error?.description.contains("an instance in container \"request\" leases it") == true)
                try await holder.dispose()
                _ = try await scope.resolve(Pool.self, arguments: "acme")
            }
        }
    }

    @Test func `a hook of a child container is refused a drain that would wait for the child's own lease`() async throws
    {
        let errors = Log<any Error>()
        try await finishes {
            try await root.withScope("request") { scope in
                let child = Container(parent: scope) {
                    Registration(String.self, lifetime: .singleton) { r in
                        _ = try await r.lease(Pool.self, arguments: "acme")
                        return ""
                    }
                    Registration(Int.self, lifetime: .singleton) { r in try await r.resolve(String.self).count }
                        .onDispose { _ in
                            do { try await root.drain(Pool.self, arguments: "acme") } catch { errors.append(error) }
                        }
                }
                _ = try await child.resolve(Int.self)
                try await child.dispose()
            }
        }
        #expect(errors.entries.map { ($0 as? ResolutionError)?.code } == [.invalidOperation])
    }

    @Test(arguments: [true, false])
    func `a factory of a child container that drains what the child leases ends with the root`(
        isOwned: Bool
    ) async throws {
        try await finishes {
            let owner = try isOwned ? OwnedScope(in: root) : nil
            let scope = if let owner { owner.container } else { try await root.openScope() }
            let child = Container(parent: scope) {
                Registration(String.self, lifetime: .singleton) { r in
                    _ = try await r.lease(Pool.self, arguments: "acme")
                    return ""
                }
                Registration(Int.self, lifetime: .singleton) { _ in
                    try await root.drain(Pool.self, arguments: "acme")
                    return 1
                }
            }
            _ = try await child.resolve(String.self)
            let request = Task { try await child.resolve(Int.self) }
            await until { !root.activity().disposals.isEmpty }
            try await root.dispose()
            await #expect(throws: (any Error).self) { try await request.value }
        }
    }

    @Test(arguments: [true, false])
    func `a drain that would wait for the work around it is refused before it drops the instance`(
        isDrained: Bool
    ) async throws {
        try await finishes {
            let owner = try OwnedScope(in: root, isDrained: isDrained)
            try await owner.run { scope in
                let pool = try await scope.resolve(UnitOfWork.self).pool
                let error = await expect(.invalidOperation) { try await root.drain(Pool.self, arguments: "acme") }
                #expect(
                    error?.message
                        == "the work of container \"scope\" drains Pool(String), which waits for an instance of that scope to "
                        + "end its lease.")
                let same = try await scope.resolve(Pool.self, arguments: "acme")
                #expect(same === pool)
            }
            try await owner.end()
            try await root.drain(Pool.self, arguments: "acme")
        }
    }

    /// The task of a singleton's creation does not inherit the body around its request.
    @Test(arguments: [true, false])
    func `a shared factory is refused a drain that would wait for the work around its request`(
        isOwned: Bool
    ) async throws {
        try await finishes {
            try await withScopeOrWork(isOwned: isOwned) { scope in
                let pool = try await scope.resolve(UnitOfWork.self).pool
                try await scope.register(draining())
                let error = await expect(.invalidOperation) { try await scope.resolve(Int.self) }
                #expect(
                    error?.message
                        == "the factory of Int drains Pool(String), which waits for a lease that ends after the body around "
                        + "it.")
                let same = try await scope.resolve(Pool.self, arguments: "acme")
                #expect(same === pool)
            }
            try await root.drain(Pool.self, arguments: "acme")
        }
    }

    @Test(arguments: [true, false])
    func `a shared factory is refused a drain that would wait for a container in the scope of the body`(
        isInChild: Bool
    ) async throws {
        try await finishes {
            try await root.withScope { scope in
                let child = Container(parent: scope)
                let pool = try await child.resolve(UnitOfWork.self).pool
                let place = isInChild ? child : scope
                try await place.register(draining())
                let error = await expect(.invalidOperation) { try await place.resolve(Int.self) }
                #expect(error?.message.contains("a lease in a scope whose body is around it") == true)
                let same = try await scope.resolve(Pool.self, arguments: "acme")
                #expect(same === pool)
            }
        }
    }

    @Test(arguments: [true, false])
    func `a drain in work whose scope was disposed under it waits`(isOwned: Bool) async throws {
        let mayEnd = Gate()
        await expect(.disposed) {
            try await withScopeOrWork(isOwned: isOwned) { scope in
                try await scope.register(
                    Registration(Int.self, lifetime: .singleton) { r in
                        _ = try await r.lease(Pool.self, arguments: "acme")
                        return 1
                    }
                    .onDispose { _ in await mayEnd.pass() })
                _ = try await scope.resolve(Int.self)
                let disposal = Task.detached { try await scope.dispose() }
                await mayEnd.arrived()
                async let drain: Void = root.drain(Pool.self, arguments: "acme")
                await until { root.activity().disposals.contains { $0.instance.description.contains("Pool") } }
                mayEnd.open()
                try await drain
                try await disposal.value
            }
        }
    }

    private func draining() -> Registration<Int> {
        Registration(Int.self, lifetime: .singleton) { _ in
            try await root.drain(Pool.self, arguments: "acme")
            return 1
        }
    }

    /// The body of a `withScope`, or a part of an owned scope's work.
    private func withScopeOrWork(
        isOwned: Bool, _ work: @escaping @Sendable (Container) async throws -> Void
    ) async throws {
        if !isOwned { return try await root.withScope { try await work($0) } }
        let owner = try OwnedScope(in: root)
        try await owner.run { try await work($0) }
        try await owner.end()
    }

    @Test(arguments: [Duration.seconds(1), nil])
    func `a factory is refused the drain of an instance that it leases, which stays`(deadline: Duration?) async throws {
        let container = Container(parent: root) {
            Registration(String.self, lifetime: .scoped) { r in
                let pool = try await r.lease(Pool.self, arguments: "acme")
                let error = await expect(.invalidOperation) {
                    try await root.drain(Pool.self, arguments: "acme", deadline: deadline)
                }
                #expect(error?.message.contains("which waits for the end of the factory's own lease") == true)
                let same = try await r.resolve(Pool.self, arguments: "acme")
                #expect(same === pool)
                return ""
            }
        }
        try await finishes { _ = try await container.resolve(String.self) }
        try await container.dispose()
    }

    /// Their owners may end such scopes at any time.
    @Test(arguments: [true, false])
    func `a request waits for a scope beside it that has the lease, inside a scope around both`(
        isOwned: Bool
    ) async throws {
        try await finishes {
            try await root.withScope("connection") { scope in
                let owner = try isOwned ? OwnedScope(in: scope) : nil
                let part = if let owner { owner.container } else { try await scope.openScope() }
                let (work, beside) = (try await part.resolve(UnitOfWork.self), try OwnedScope(in: scope))
                try await root.reset(Pool.self, arguments: "acme")
                let next = Task { try await beside.container.resolve(Pool.self, arguments: "acme") }
                await root.core.waiters(of: Pool.self, reach: 1)
                try await part.dispose()
                #expect(try await next.value !== work.pool)
                withExtendedLifetime(owner) {}
            }
        }
    }

    @Test func `a drain with a deadline waits for a container in the scope of its body`() async throws {
        try await finishes {
            try await root.withScope { scope in
                let holder = Container(parent: scope)
                _ = try await holder.resolve(UnitOfWork.self)
                await expect(.invalidOperation) { try await root.drain(Pool.self, arguments: "acme") }
                let drain = Task { try await root.drain(Pool.self, arguments: "acme", deadline: .seconds(300)) }
                await until { root.activity().disposals.contains { $0.waitsForLeases } }
                try await holder.dispose()
                try await drain.value
            }
        }
    }

    @Test func `the error of a service that needs a leased instance's successor is about the lease`() async throws {
        try await finishes {
            let other = try await root.withInstance(Pool.self, arguments: "acme") { _ in
                try await root.reset(Pool.self, arguments: "acme")
                let other = Task.detached { try await root.resolve(Pool.self, arguments: "acme") }
                await root.core.waiters(of: Pool.self, reach: 1)
                let error = await expect(.circularDependency) {
                    try await root.withScope { try await $0.resolve(UnitOfWork.self) }
                }
                #expect(error?.description.contains("was reset or replaced while its instance is leased") == true)
                return other
            }
            _ = try await other.value
        }
    }

    @Test func `a request from another scope waits for the end of the one that leases`() async throws {
        let isAsked = Gate()
        let holder = try await root.openScope()
        let work = try await holder.resolve(UnitOfWork.self)
        try await root.reset(Pool.self, arguments: "acme")
        async let next = root.withScope { scope in
            isAsked.arrive()
            return try await scope.resolve(Pool.self, arguments: "acme")
        }
        await isAsked.arrived(1)
        try await holder.dispose()
        #expect(try await next !== work.pool)
    }

    @Test func `a singleton's successor does not wait for the scope of the request`() async throws {
        try await root.withScope { scope in
            let work = try await scope.resolve(UnitOfWork.self, qualifier: "single")
            try await root.reset(Pool.self)
            #expect(try await scope.resolve(Pool.self) !== work.pool)
        }
    }

    @Test func `the instance that leases was reset too, and holds nothing up`() async throws {
        try await root.withScope { scope in
            let work = try await scope.resolve(UnitOfWork.self)
            try await root.reset(Pool.self, arguments: "acme")
            try await scope.reset(UnitOfWork.self)
            #expect(try await scope.resolve(Pool.self, arguments: "acme") !== work.pool)
        }
    }
}
