import AsyncDI
import Synchronization
import Testing

/// The guide "Scopes", run.
@Suite(.timeLimit(.minutes(10)))
struct ScopesTests {
    private let request = Request(path: "/orders")

    @Test func `a request`() async throws {
        let container = makeContainer()
        try await container.withScope("request-42") {
            Registration(instance: request)
        } operation: { scope in
            let user = try await container.resolve(CurrentUser.self)  // the request's own
            try await user.greet()
        }
        try await container.dispose()
    }

    @Test func `an override asks for the service that it overrides`() async throws {
        let container = Container { Registration((any Greeter).self) { _ in PlainGreeter() } }
        let greeting =
            try await container.withScope("request-42") {
                Registration((any Greeter).self) { _ in
                    LoudGreeter(try await container.resolve((any Greeter).self))  // the outer container's
                }
            } operation: { _ in
                try await container.resolve((any Greeter).self).greet()
            }
        #expect(greeting == "HELLO")
        try await container.dispose()
    }

    @Test func `a task that outlives its request`() async throws {
        let log = Log()
        let container = makeContainer()
        try await container.register(Mailer.self, lifetime: .singleton) { _ in Mailer(log: log) }
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let task = try await container.withScope("request-42") {
            Registration(instance: request)
        } operation: { _ in
            let user = try await container.resolve(CurrentUser.self)
            return Task {
                for await _ in ended {}
                // After the request, as before: the application's own.
                let mailer = try await container.resolve(Mailer.self)
                await #expect(throws: ResolutionError.self) { try await container.resolve(CurrentUser.self) }
                try await mailer.sendReceipt(to: user)
            }
        }
        end.finish()
        try await task.value
        #expect(log.events == ["/orders"])
        try await container.withScope("request-42") {
            Registration(instance: request)
        } operation: { scope in
            let user = try await container.resolve(CurrentUser.self)
            Task {
                // After the request, as before: the application's own.
                let mailer = try await container.resolve(Mailer.self)
                // `container.resolve(CurrentUser.self)` would throw `disposed` here.
                try await mailer.sendReceipt(to: user)
            }
        }
        try await container.dispose()
    }

    @Test func `a scope that starts`() async throws {
        let container = Container {
            Registration(Preferences.self, lifetime: .scoped) { _ in try await Preferences.load() }.eager()
        }
        let session = try await container.openScope("session-7")
        try await session.start()
        let preferences = try session.ready(Preferences.self)
        #expect(try await session.resolve(Preferences.self) === preferences)
        try await container.dispose()
    }

    private func makeContainer() -> Container {
        let container = Container {
            Registration(expected: Request.self)
            Registration(using: CurrentUser.init, lifetime: .scoped)
        }
        return container
    }

    @Test func `a missing value and a captive are refused`() async throws {
        let container = makeContainer()
        try await container.register(Inbox.self, lifetime: .singleton) { r in try await Inbox(user: r.resolve()) }
        let guide = try Guide("Scopes")
        try await container.withScope("request-42") { scope in
            let error = await #expect(throws: ResolutionError.self) { try await scope.resolve(CurrentUser.self) }
            guide.shows(error)
        }
        try await container.withScope("request-43") {
            Registration(instance: request)
        } operation: { scope in
            _ = try await scope.resolve(CurrentUser.self)
            let error = await #expect(throws: ResolutionError.self) { try await scope.resolve(Inbox.self) }
            #expect(error?.code == .captiveDependency)
        }
        try await container.dispose()
    }

    final class PlayerScreen: Sendable {
        private let scope: OwnedScope

        init(in container: Container, playing song: Song) throws {
            scope = try OwnedScope(in: container) { Registration(instance: song) }
        }

        func player() async throws -> Player { try await scope.container.resolve(Player.self) }
    }

    @Test func `a scope that goes with an object`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let container = Container {
            Registration(expected: Song.self)
            Registration(using: Player.init, lifetime: .scoped)
                .onDispose { _, reason in end.yield(reason.error != nil) }
        }
        do {
            let screen = try PlayerScreen(in: container, playing: Song(title: "Gymnopédie"))
            #expect(try await screen.player().song.title == "Gymnopédie")
        }
        #expect(await ends.first { _ in true } == true)
        try await container.dispose()
    }

    @Test func `a scope that stays open`() async throws {
        let container = makeContainer()
        let session = try await container.openScope("session-7")
        let same = await container.scope("session-7")  // nil when it is not open
        try await container.disposeScope("session-7")
        #expect(same === session)
        #expect(await container.scope("session-7") == nil)
        try await container.dispose()
    }

    struct Request: Sendable {
        let path: String
    }

    final class CurrentUser: Sendable {
        let request: Request

        init(request: Request) async throws { self.request = request }
        func greet() async throws {}
    }

    struct Mailer: Sendable {
        let log: Log

        func sendReceipt(to user: CurrentUser) async throws { log.note(user.request.path) }
    }

    final class Preferences: Sendable {
        static func load() async throws -> Preferences { Preferences() }
    }

    struct Inbox: Sendable {
        let user: CurrentUser
    }

    protocol Greeter: Sendable {
        func greet() -> String
    }

    struct PlainGreeter: Greeter {
        func greet() -> String { "hello" }
    }

    struct LoudGreeter: Greeter {
        let greeter: any Greeter

        init(_ greeter: any Greeter) { self.greeter = greeter }
        func greet() -> String { greeter.greet().uppercased() }
    }

    final class Log: Sendable {
        private let content = Mutex<[String]>([])

        var events: [String] { content.withLock { $0 } }
        func note(_ event: String) { content.withLock { $0.append(event) } }
    }

    struct Song: Sendable {
        let title: String
    }

    final class Player: Sendable {
        let song: Song

        init(song: Song) { self.song = song }
    }
}
