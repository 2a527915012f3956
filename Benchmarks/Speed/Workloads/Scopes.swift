import AsyncDI

/// A request's scope, from opening to disposal.
func registerScopes() {
    compare("scope", operations: 500) {
        let container = Container {
            Registration((any Service).self, lifetime: .scoped) { _ in SomeService() }
        }
        return .each {
            for _ in 0..<$0 {
                try await container.withScope("request") { scope in
                    consume(try await scope.resolve((any Service).self))
                }
            }
        } baseline: {
            await startTasks($0)
        }
    }
    compare("scope-empty", operations: 1_000) {
        let container = Container()
        return .each {
            for _ in 0..<$0 { try await container.withScope { keep($0) } }
        } baseline: {
            await startTasks($0)
        }
    }
    compare("scope-values", operations: 500) {
        let container = Container()
        return .each {
            for index in 0..<$0 {
                try await container.withScope {
                    Registration(instance: IncomingRequest(number: index, tenant: tenants[index % 100]))
                    Registration(instance: Trace(number: index))
                } operation: {
                    keep($0)
                }
            }
        } baseline: {
            for _ in 0..<$0 { try await container.withScope { keep($0) } }
        }
    }
}
