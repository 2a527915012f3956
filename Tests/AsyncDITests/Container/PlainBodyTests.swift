import AsyncDI
import Testing

/// The bodies of `withScope` and its kin: their captures, and their isolation.
@Suite(.timeLimit(.minutes(10))) struct PlainBodyTests {
    /// The writer of a streamed response: not Sendable, and passed `inout`.
    private struct Writer: ~Copyable {
        private(set) var parts: [String] = []
        private let mark = NotSendable()

        mutating func write(_ part: String) async {
            await Task.yield()
            mark.count += 1
            parts.append(part)
        }
    }

    private final class NotSendable {
        var count = 0
    }

    private let container = Container {
        Registration(String.self, instance: "part")
        Registration(Int.self, lifetime: .scoped) { _ in 7 }
        Registration(Int.self, lifetime: .multiton) { (_, text: String) in text.count }
    }

    private func stream(into writer: inout Writer) async throws {
        try await container.withScope("export") { scope in
            await writer.write(try await scope.resolve(String.self))
        }
        try await container.withScope { scope in
            await writer.write("\(try await scope.resolve(Int.self))")
        }
        try await container.withInstance(Int.self, arguments: "four") { length in
            await writer.write("\(length)")
        }
        try await container.withGraph { resolver in
            await writer.write(try await resolver.resolve(String.self))
        }
        try await Injection.with(container) {
            await writer.write(try await resolve(String.self))
        }
        try await withContainer {
            Registration(String.self, instance: "own")
        } operation: { container in
            await writer.write(try await container.resolve(String.self))
        }
    }

    @Test func `a body writes to an inout parameter that is not Sendable`() async throws {
        var writer = Writer()
        try await stream(into: &writer)
        #expect(writer.parts == ["part", "7", "4", "part", "part", "own"])
    }

    @MainActor private final class Screen {
        var title = ""

        func load(from container: Container) async throws {
            try await container.withScope { scope in
                MainActor.assertIsolated()
                title = try await scope.resolve(String.self)
                MainActor.assertIsolated()
            }
        }
    }

    @Test func `the body of a main-actor method runs on the main actor`() async throws {
        let screen = Screen()
        try await screen.load(from: container)
        #expect(await screen.title == "part")
    }

    private actor Session {
        private var titles: [String] = []

        func load(from container: Container) async throws -> Int {
            try await container.withScope { scope in
                assertIsolated()
                titles.append(try await scope.resolve(String.self))
                assertIsolated()
                return titles.count
            }
        }
    }

    @Test func `the body of an actor's method runs on the actor, and reaches its state`() async throws {
        #expect(try await Session().load(from: container) == 1)
    }

    private actor Holder {
        let state = NotSendable()

        func count(in container: Container) async throws -> Int {
            try await PlainBodyTests.count(state, in: container)
            return state.count
        }
    }

    /// A body that captures the isolation stays on the caller's actor.
    private static func count(
        _ state: NotSendable, in container: Container, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await container.withScope { _ in
            isolation?.assertIsolated()
            state.count += 1
        }
    }

    @Test func `the body of a function with an isolated parameter stays on the actor`() async throws {
        let holder = Holder()
        let container = container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await holder.count(in: container) } }
            try await group.waitForAll()
        }
        #expect(try await holder.count(in: container) == 101)
    }

    @Test func `a body returns a value that is not Sendable`() async throws {
        let made = try await container.withScope { _ in NotSendable() }
        made.count += 1
        #expect(made.count == 1)
    }
}
