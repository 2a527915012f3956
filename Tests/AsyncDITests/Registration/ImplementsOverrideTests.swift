import Testing

@testable import AsyncDI

private protocol Pet: Sendable {
    var name: String { get }
}
private struct Fish: Pet {
    let name: String
}
private final class Dog: Pet {
    let name = "dog"
}

/// Overrides of another type of a service.
@Suite(.timeLimit(.minutes(10))) struct ImplementsOverrideTests {
    @Test(arguments: [true, false])
    func `an instance under its other type does not hide an override that came meanwhile`(
        isInScope: Bool
    ) async throws {
        let (converts, mayConvert) = (Gate(), Locked(false))
        let container = Container {
            Registration(Dog.self, lifetime: .scoped) { _ in Dog() }
                .implements((any Pet).self) { dog in
                    converts.arrive()
                    while !mayConvert.value { yieldThread() }
                    return dog
                }
        }
        try await takingAThread {
            let between = Container(parent: container)
            try await between.withScope { scope in
                let early = Task(priority: .high) { try await scope.resolve((any Pet).self).name }
                await converts.arrived()
                try await (isInScope ? scope : between).register((any Pet).self, lifetime: .singleton) { _ in
                    Fish(name: "override")
                }
                // Found again, and published as valid at the current count of registrations.
                for _ in 0..<3 { _ = try await scope.resolve(Dog.self) }
                mayConvert.value = true
                #expect(try await early.value == "dog")
                for _ in 0..<3 { #expect(try await scope.resolve((any Pet).self).name == "override") }
            }
        }
    }

    @Test func `an instance is found under its other type, and not converted again, after registrations elsewhere`()
        async throws
    {
        let conversions = Counter()
        let container = Container {
            Registration(Dog.self, lifetime: .scoped) { _ in Dog() }
                .implements((any Pet).self) { dog in
                    conversions.increment()
                    return dog
                }
        }
        try await container.withScope { scope in
            for _ in 0..<3 { _ = try await scope.resolve((any Pet).self) }
            try await Container().register(Int.self) { _ in 1 }
            _ = try await scope.resolve((any Pet).self)
            // Another test may register something between two requests.
            await until {
                let count = conversions.value
                for _ in 0..<3 { _ = try? await scope.resolve((any Pet).self) }
                return conversions.value == count
            }
        }
    }
}
