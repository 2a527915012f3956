import AsyncDI

/// A new instance for each request.
func registerTransients() {
    compare("transient", operations: 5_000) {
        let (factories, container) = transientService()
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await factories.resolve((any Service).self)) }
        }
    }
    compare("transient-main", operations: 5_000) {
        let (factories, container) = transientService()
        @MainActor func ours(_ operations: Int) async throws {
            for _ in 0..<operations { consume(try await container.resolve((any Service).self)) }
        }
        @MainActor func baseline(_ operations: Int) async throws {
            for _ in 0..<operations { consume(try await factories.resolve((any Service).self)) }
        }
        return .each {
            try await ours($0)
        } baseline: {
            try await baseline($0)
        }
    }
    compare("transient-qualifier", operations: 5_000) {
        let container = Container {
            Registration((any Service).self, lifetime: .transient) { _ in SomeService() }
            Registration((any Service).self, qualifier: Slot(index: 1), lifetime: .transient) { _ in SomeService() }
        }
        return .each {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self, qualifier: Slot(index: 1))) }
        } baseline: {
            for _ in 0..<$0 { consume(try await container.resolve((any Service).self)) }
        }
    }
    compare("transient-argument", operations: 5_000) {
        let factories = Factories()
        factories.register((any Service).self) { (_, number: Int) in SomeService(number) }
        let container = Container {
            Registration((any Service).self, lifetime: .transient) { (_, number: Int) in SomeService(number) }
        }
        return .each {
            for index in 0..<$0 { consume(try await container.resolve((any Service).self, arguments: index + 1)) }
        } baseline: {
            for index in 0..<$0 { consume(try await factories.resolve((any Service).self, index + 1)) }
        }
    }
}

private func transientService() -> (Factories, Container) {
    let factories = Factories()
    factories.register((any Service).self) { _ in SomeService() }
    let container = Container {
        Registration((any Service).self, lifetime: .transient) { _ in SomeService() }
    }
    return (factories, container)
}
