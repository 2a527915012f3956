import AsyncDI

private struct Supplied: Service { let number: Int }

private final class Pool: Sendable {}

/// How long it took.
private struct Timing: Sendable { let duration: Duration }

/// Requests made inside a factory, beside the same from outside.
func registerNested() {
    for (maker, lifetime) in [("transient", Lifetime.transient), ("scoped", .scoped)] {
        compareNested("\(maker)-argument", operations: 2_000, in: lifetime) { r, operations in
            for index in 0..<operations { consume(try await r.resolve((any Service).self, arguments: index + 1)) }
        } outside: { container, operations in
            for index in 0..<operations {
                consume(try await container.resolve((any Service).self, arguments: index + 1))
            }
        }
        compareNested("\(maker)-qualifier", operations: 2_000, in: lifetime) { r, operations in
            for _ in 0..<operations { consume(try await r.resolve((any Service).self, qualifier: Slot(index: 1))) }
        } outside: { container, operations in
            for _ in 0..<operations {
                consume(try await container.resolve((any Service).self, qualifier: Slot(index: 1)))
            }
        }
        compareNested("\(maker)-multiton", operations: 5_000, in: lifetime) { r, operations in
            for index in 0..<operations { keep(try await r.resolve(Pool.self, arguments: tenants[index % 100])) }
        } outside: { container, operations in
            for index in 0..<operations {
                keep(try await container.resolve(Pool.self, arguments: tenants[index % 100]))
            }
        }
        compareNested("\(maker)-value", operations: 10_000, in: lifetime) { r, operations in
            for _ in 0..<operations { consume(try await r.resolve(Supplied.self)) }
        } outside: { container, operations in
            for _ in 0..<operations { consume(try await container.resolve(Supplied.self)) }
        }
    }
}

/// One row: requests in a factory of this lifetime, or in the body of the scope that the factory is asked in.
private func compareNested(
    _ name: String, operations: Int, in lifetime: Lifetime,
    _ inside: nonisolated(nonsending) @escaping @Sendable (Resolver, _ operations: Int) async throws -> Void,
    outside: nonisolated(nonsending) @escaping @Sendable (Container, _ operations: Int) async throws -> Void
) {
    compare("inside-\(name)", operations: operations) {
        let container = Container {
            Registration(expected: Supplied.self)
            Registration((any Service).self, lifetime: .transient) { (_, number: Int) in SomeService(number) }
            Registration((any Service).self, qualifier: Slot(index: 1), lifetime: .transient) { _ in SomeService() }
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
            Registration(Timing.self, lifetime: lifetime) { (r, operations: Int) in
                Timing(duration: try await time { try await inside(r, operations) })
            }
        }
        for tenant in tenants { keep(try await container.resolve(Pool.self, arguments: tenant)) }
        nonisolated(nonsending) func inScope(
            _ body: nonisolated(nonsending) (Container) async throws -> Duration
        ) async throws -> Duration {
            try await container.withScope {
                Registration(instance: Supplied(number: 1))
            } operation: { scope in
                try await body(scope)
            }
        }
        return Comparison { operations in
            try await inScope { try await $0.resolve(Timing.self, arguments: operations).duration }
        } baseline: { operations in
            try await inScope { scope in try await time { try await outside(scope, operations) } }
        }
    }
}
