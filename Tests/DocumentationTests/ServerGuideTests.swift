import AsyncDI
import Synchronization
import Testing

/// The guide "A server", run.
@Suite(.timeLimit(.minutes(10)))
struct ServerGuideTests {
    private let request = Request(path: "/orders", tenant: "acme")

    @Test func `a middleware`() async throws {
        let log = Log()
        let container = Container {
            RequestModule()
            Registration(TenantDatabase.self, lifetime: .multiton) { (_, name: String) in
                TenantDatabase(name: name, log: log)
            }
            .onDispose { database in await database.close() }
        }
        try await container.validate()
        let middleware = ScopePerRequest(container: container)
        _ = try await middleware.handle(request) { _ in
            return try await container.resolve(OrderHandler.self).respond()
        }
        await #expect(throws: CancellationError.self) {
            try await middleware.handle(request) { _ in
                _ = try await container.resolve(OrderHandler.self).respond()
                throw CancellationError()
            }
        }
        try await container.dispose()
        #expect(
            log.events == ["acme: ordered", "acme: committed", "acme: ordered", "acme: rolled back", "acme closed"])
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

    @Test func `a service that is cancelled still disposes its container`() async throws {
        let log = Log()
        let container = Container {
            Registration(Log.self, instance: log).onDispose { log in log.note("disposed") }
        }
        let task = Task { try await ContainerService(container: container).run() }
        task.cancel()
        try await task.value
        #expect(log.events == ["disposed"])
    }

    struct ContainerService: Service {
        let container: Container

        func run() async throws {
            try? await gracefulShutdown()  // `try?`: when the task is cancelled, dispose nevertheless
            try await container.drain(deadline: .seconds(8))
        }
    }

    @Test func `a streamed body opens its scope, or ends a scope that was opened before`() async throws {
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
        let scope = try OwnedScope(in: container, isDrained: true) { Registration(instance: request) }
        let export = try await scope.run { scope in try await scope.resolve(Export.self) }
        return Response { write in
            try await scope.finish { _ in
                for row in export.rows { try await write(row) }
            }
        }
    }

    @Test func `a server from its start to its end`() async throws {
        try await runServer()
    }

    func runServer() async throws {
        let logger = Logger(label: "orders")
        try await withContainer(name: "orders", observers: [ContainerLog(logger: logger)]) {
            RequestModule()
            Registration(Catalog.self, lifetime: .singleton) { _ in try await Catalog.load() }.eager()
        } operation: { container in
            let server = Server(middleware: ScopePerRequest(container: container)) { request in
                try await container.resolve(OrderHandler.self).respond()  // in the scope of the request
            }
            var configuration = ServiceGroupConfiguration(
                services: [ContainerService(container: container), server],  // the server stops first
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            configuration.maximumGracefulShutdownDuration = .seconds(5)
            try await ServiceGroup(configuration: configuration).run()
        }
    }

    struct RequestModule: Module {
        var registrations: Registrations {
            Registration(TenantDatabase.self, lifetime: .multiton(capacity: 100, idle: .seconds(300))) { _, tenant in
                try await TenantDatabase(opening: tenant)
            }
            .onDispose { database in await database.close() }
            Registration(expected: Request.self)
            Registration(
                using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), lifetime: .scoped
            )
            .onDispose { work, reason in
                if reason.error == nil { try await work.commit() } else { try await work.rollBack() }
            }
            Registration(using: OrderHandler.init)
        }
    }

    // MARK: The program around it

    struct Request: Sendable {
        let path: String
        let tenant: String
    }

    struct Response: Sendable {
        typealias Write = @Sendable (String) async throws -> Void
        let body: @Sendable (_ write: Write) async throws -> Void

        init(body: @escaping @Sendable (_ write: Write) async throws -> Void) { self.body = body }
    }

    struct Export: Sendable {
        let rows: [String]
    }

    struct TenantDatabase: Sendable {
        let name: String
        let log: Log

        init(name: String, log: Log) { (self.name, self.log) = (name, log) }
        init(opening tenant: String) async throws { self.init(name: tenant, log: Log()) }
        func close() async { log.note("\(name) closed") }
    }

    final class UnitOfWork: Sendable {
        private let database: TenantDatabase

        init(_ database: TenantDatabase) { self.database = database }
        func note(_ event: String) { database.log.note("\(database.name): \(event)") }
        func commit() async throws { note("committed") }
        func rollBack() async throws { note("rolled back") }
    }

    struct OrderHandler: Sendable {
        let work: UnitOfWork

        func respond() async throws -> Response {
            work.note("ordered")
            return Response { _ in }
        }
    }

    struct Catalog: Sendable {
        static func load() async throws -> Catalog { Catalog() }
    }

    final class Log: Sendable {
        private let content = Mutex<[String]>([])

        var events: [String] { content.withLock { $0 } }
        func note(_ event: String) { content.withLock { $0.append(event) } }
    }

    // Stand-ins for the types of a server framework and a service group.

    protocol Middleware: Sendable {
        func handle(_ request: Request, next: @Sendable (Request) async throws -> Response) async throws -> Response
    }

    protocol Service: Sendable {
        func run() async throws
    }

    /// Answers one request.
    struct Server: Service {
        let middleware: any Middleware
        let respond: @Sendable (Request) async throws -> Response

        init(middleware: any Middleware, respond: @escaping @Sendable (Request) async throws -> Response) {
            (self.middleware, self.respond) = (middleware, respond)
        }

        func run() async throws {
            let response = try await middleware.handle(Request(path: "/orders", tenant: "acme"), next: respond)
            try await response.body { _ in }
        }
    }

    enum UnixSignal {
        case sigterm, sigint
    }

    struct ServiceGroupConfiguration {
        let services: [any Service]
        let gracefulShutdownSignals: [UnixSignal]
        let logger: Logger
        var maximumGracefulShutdownDuration: Duration?

        init(services: [any Service], gracefulShutdownSignals: [UnixSignal], logger: Logger) {
            (self.services, self.gracefulShutdownSignals, self.logger) = (services, gracefulShutdownSignals, logger)
        }
    }

    /// Ends the services in reverse order when the last one has ended.
    struct ServiceGroup {
        let configuration: ServiceGroupConfiguration

        func run() async throws {
            let services = configuration.services
            let others = services.dropLast().map { service in Task { try await service.run() } }
            try await services.last?.run()
            for task in others.reversed() {
                task.cancel()
                try await task.value
            }
        }
    }

    struct Logger: Sendable {
        let label: String

        func warning(_ message: String) { print(label, message) }
    }

    /// Like the one of the guide "Observability".
    struct ContainerLog: ContainerObserver {
        let logger: Logger

        var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

        func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
            logger.warning("\(event)")
        }
    }
}

/// Like the function of a service group: returns when a shutdown begins (here never), throws when its task is
/// cancelled.
private func gracefulShutdown() async throws {
    for await _ in AsyncStream(Int.self, { _ in }) {}
    try Task.checkCancellation()
}
