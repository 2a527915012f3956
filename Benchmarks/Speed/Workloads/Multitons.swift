import AsyncDI

private final class Pool: Sendable {}

/// Requests for an existing multiton, in turns for each of a hundred tenants.
func registerMultitons() {
    for (suffix, lifetime) in [("", Lifetime.multiton), ("-used", .multiton(capacity: 1_000))] {
        compare("multiton-1\(suffix)", operations: 5_000) {
            let pools = LockedDictionary<OneArgument, Pool>()
            let container = Container { Registration(Pool.self, lifetime: lifetime) { (_, _: String) in Pool() } }
            for tenant in tenants {
                pools.store(OneArgument(tenant: tenant), Pool())
                _ = try await container.resolve(Pool.self, arguments: tenant)
            }
            return .each {
                for index in 0..<$0 {
                    keep(try await container.resolve(Pool.self, arguments: tenants[index % 100]))
                }
            } baseline: {
                for index in 0..<$0 { keep(try await pools.resolve(OneArgument(tenant: tenants[index % 100]))) }
            }
        }
        compare("multiton-2\(suffix)", operations: 5_000) {
            let pools = LockedDictionary<TwoArguments, Pool>()
            let container = Container {
                Registration(Pool.self, lifetime: lifetime) { (_, _: String, _: Int) in Pool() }
            }
            for tenant in tenants {
                pools.store(TwoArguments(tenant: tenant, shard: 1), Pool())
                _ = try await container.resolve(Pool.self, arguments: tenant, 1)
            }
            return .each {
                for index in 0..<$0 {
                    keep(try await container.resolve(Pool.self, arguments: tenants[index % 100], 1))
                }
            } baseline: {
                for index in 0..<$0 {
                    keep(try await pools.resolve(TwoArguments(tenant: tenants[index % 100], shard: 1)))
                }
            }
        }
    }
    compare("multiton-lease", operations: 1_000) {
        let container = Container { Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() } }
        for tenant in tenants { _ = try await container.resolve(Pool.self, arguments: tenant) }
        return .each {
            for index in 0..<$0 {
                try await container.withInstance(Pool.self, arguments: tenants[index % 100]) { keep($0) }
            }
        } baseline: {
            for index in 0..<$0 { keep(try await container.resolve(Pool.self, arguments: tenants[index % 100])) }
        }
    }
}
