import Testing

@testable import AsyncDI

@Suite(.timeLimit(.minutes(10))) struct StartTests {
    @Test func `start makes eager services, independent ones side by side`() async throws {
        let both = Gate()
        let runs = Counter()
        let container = Container {
            for name in ["a", "b"] {
                Registration(String.self, qualifier: name, lifetime: .singleton) { _ in
                    // Passes only when both have come: made one after the other, they would wait forever.
                    both.arrive()
                    await both.arrived(2)
                    return name
                }
                .eager()
            }
            Registration(Thing.self, lifetime: .singleton) { r in
                runs.increment()
                _ = try await r.resolve(String.self, qualifier: "a")
                return Thing()
            }
            .eager()
            Registration(Int.self, lifetime: .singleton) { _ in runs.increment() }
        }
        try await container.start()
        #expect(runs.value == 1)
        #expect(try container.ready(String.self, qualifier: "b") == "b")
        _ = try container.ready(Thing.self)
        try await container.start()
        #expect(runs.value == 1)
    }

    @Test func `when one fails its error is thrown, and what was complete stays`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Int.self)
                throw TestError(5)
            }
            .eager()
        }
        await #expect(throws: TestError(5)) { try await container.start() }
        #expect(try container.ready(Int.self) == 1)
    }

    @Test func `start throws what was wrong with the initialiser's registrations`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self, instance: 1)
            Registration(Int.self, instance: 2)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.start() }
        #expect(error?.code == .duplicateRegistration)
        let eager = Container { Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }.eager() }
        let invalid = await #expect(throws: ResolutionError.self) { try await eager.start() }
        #expect(invalid?.code == .invalidRegistration)
    }
}
