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
            let error = await #expect(throws: ResolutionError.self) {
                if isLease {
                    try await asked.withInstance(Pool.self, arguments: "acme") { _ in }
                } else {
                    _ = try await asked.resolve(Pool.self, arguments: "acme")
                }
            }
            #expect(error?.code == .invalidOperation)
            // The others are not concerned.
            _ = try await asked.resolve(Pool.self, arguments: "other")
        }
        _ = try await root.resolve(Pool.self, arguments: "acme")
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
