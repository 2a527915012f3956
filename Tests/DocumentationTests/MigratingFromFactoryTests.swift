import AsyncDI
import Testing

/// The guide "Migrating from Factory", run.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromFactoryTests {
    @Test func `the first steps`() async throws {
        let container = Container {
            Registration((any API).self, lifetime: .singleton) { _ in try await LiveAPI.connect() }
            Registration(using: Repository.init, lifetime: .transient)
            Registration(Room.self, lifetime: .multiton) { _, number in Room(number: number) }
        }
        let repository = try await container.resolve(Repository.self)
        let room = try await container.resolve(Room.self, arguments: 7)
        #expect(try await repository.load() == "live")
        #expect(try await container.resolve(Room.self, arguments: 7) === room)
        #expect(try await container.resolve(Room.self, arguments: 8) !== room)
        try await container.dispose()
    }

    @Test func `the repository loads`() async throws {
        let container = makeContainer()
        try await container.register((any API).self, instance: FixedAPI())
        let repository = try await container.resolve(Repository.self)
        #expect(try await repository.load() == "fixed")
    }

    @Test func `a decoration replaces the instance, and a missing expected value is an error`() async throws {
        let container = Container {
            Registration((any API).self, lifetime: .singleton) { _ in FixedAPI() }
            Decoration((any API).self) { _, inner in LoudAPI(inner: inner) }
            Registration(expected: Room.self)
        }
        #expect(try await container.resolve((any API).self).load() == "FIXED")
        await #expect {
            try await container.resolve(Room.self)
        } throws: {
            ResolutionError.Code.notRegistered ~= $0
        }
        try await container.dispose()
    }

    private func makeContainer() -> Container {
        Container {
            Registration((any API).self, lifetime: .singleton) { _ in try await LiveAPI.connect() }
            Registration(using: Repository.init, lifetime: .transient)
        }
    }

    protocol API: Sendable {
        func load() async throws -> String
    }

    struct LiveAPI: API {
        static func connect() async throws -> LiveAPI { LiveAPI() }
        func load() async throws -> String { "live" }
    }

    struct FixedAPI: API {
        func load() async throws -> String { "fixed" }
    }

    struct LoudAPI: API {
        let inner: any API
        func load() async throws -> String { try await inner.load().uppercased() }
    }

    struct Repository: Sendable {
        let api: any API
        func load() async throws -> String { try await api.load() }
    }

    final class Room: Sendable {
        let number: Int
        init(number: Int) { self.number = number }
    }
}
