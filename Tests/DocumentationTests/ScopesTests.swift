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

    @Test func `an override asks for what it overrides`() async throws {
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
            Registration(CurrentUser.self, lifetime: .scoped) { r in try await CurrentUser(request: r.resolve()) }
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

    @Test func `a middleware`() async throws {
        let container = makeContainer()
        let middleware = ScopePerRequest(container: container)
        let response = try await middleware.handle(request) { request in
            let user = try await container.resolve(CurrentUser.self)
            #expect(user.request.path == request.path)
            return Response { _ in }
        }
        try await response.body { _ in }
        try await container.dispose()
    }

    struct ScopePerRequest: Middleware {
        let container: Container

        func handle(_ request: Request, next: @Sendable (Request) async throws -> Response) async throws -> Response {
            try await container.withScope("\(request.path)") {
                Registration(instance: request)
            } operation: { _ in
                try await next(request)
            }
        }
    }

    @Test func `a service that is cancelled disposes its container all the same`() async throws {
        let log = Log()
        let container = Container {
            Registration(Log.self, instance: log).onDispose { log in log.note("disposed") }
        }
        let server = Server()
        let services: [any Service] = [ContainerService(container: container), server]  // the server stops first
        let task = Task { try await services[0].run() }
        task.cancel()
        try await task.value
        #expect(log.events == ["disposed"])
    }

    struct ContainerService: Service {
        let container: Container

        func run() async throws {
            try? await gracefulShutdown()  // `try?`: when the task is cancelled, dispose all the same
            try await container.drain(deadline: .seconds(20))
        }
    }

    @Test func `a streamed body opens its scope, or ends the one that was opened before`() async throws {
        let log = Log()
        let container = Container {
            Registration(expected: Request.self)
            Registration(Export.self, lifetime: .scoped) { r in
                _ = try await r.resolve(Request.self)
                return Export(rows: ["a", "b"])
            }
            .onDispose { _ in log.note("disposed") }
        }
        for response in [makeResponse(container), try await makeResponseEarly(container)] {
            try await response.body { row in log.note(row) }
        }
        #expect(log.events == ["a", "b", "disposed", "a", "b", "disposed"])
        let failing = try await makeResponseEarly(container)
        await #expect(throws: CancellationError.self) { try await failing.body { _ in throw CancellationError() } }
        #expect(log.events.count == 7)
        try await container.dispose()
    }

    private func makeResponse(_ container: Container) -> Response {
        let request = request
        return Response { write in
            try await container.withScope {
                Registration(instance: request)
            } operation: { scope in
                for row in try await scope.resolve(Export.self).rows { try await write(row) }
            }
        }
    }

    private func makeResponseEarly(_ container: Container) async throws -> Response {
        let scope = try await container.openScope { Registration(instance: request) }
        let export = try await scope.resolve(Export.self)
        return Response { write in
            do {
                for row in export.rows { try await write(row) }
            } catch {
                try? await scope.dispose(failing: error)
                throw error
            }
            try await scope.dispose()
        }
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

    struct Response: Sendable {
        typealias Write = @Sendable (String) async throws -> Void
        let body: @Sendable (_ write: Write) async throws -> Void

        init(body: @escaping @Sendable (_ write: Write) async throws -> Void) { self.body = body }
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

    struct Export: Sendable {
        let rows: [String]
    }

    final class Log: Sendable {
        private let content = Mutex<[String]>([])

        var events: [String] { content.withLock { $0 } }
        func note(_ event: String) { content.withLock { $0.append(event) } }
    }

    // What a server framework and a service group bring.

    protocol Middleware {
        func handle(_ request: Request, next: @Sendable (Request) async throws -> Response) async throws -> Response
    }

    protocol Service: Sendable {
        func run() async throws
    }

    struct Server: Service {
        func run() async throws {}
    }
}

/// Like the function of a service group: returns when a shutdown begins (here never), throws when its task is
/// cancelled.
private func gracefulShutdown() async throws {
    try await Task.sleep(for: .seconds(3600))
}
