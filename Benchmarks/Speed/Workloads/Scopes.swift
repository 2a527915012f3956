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
}
