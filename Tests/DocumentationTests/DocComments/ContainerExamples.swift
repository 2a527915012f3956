import AsyncDI
import Testing

/// The examples in the doc comments of `Sources/AsyncDI/Container`.
@Suite(.timeLimit(.minutes(10)))
struct ContainerExamples {
    @Test func `a session that fails is rolled back`() async throws {
        let work = UnitOfWork()
        let container = Container {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in work }
                .onDispose { work, reason in
                    if reason.error == nil { try await work.commit() } else { await work.rollBack() }
                }
        }
        let session = try await container.openScope("session")
        try await edit(in: session)
        try await session.dispose(failing: SignedOut())  // instead of dispose(), which commits
        #expect(await work.log == ["rolled back"])
    }

    private struct SignedOut: Error {}

    private func edit(in scope: Container) async throws { try await scope.resolve(UnitOfWork.self).run() }

    @Test func `a graph is shared by several requests`() async throws {
        let container = Container {
            Registration(using: Editor.init)
            Registration(using: Toolbar.init)
            Registration(Document.self) { _ in Document() }
        }
        try await container.withGraph { resolver in
            let editor = try await resolver.resolve(Editor.self)
            let toolbar = try await resolver.resolve(Toolbar.self)  // on the same Document
            toolbar.attach(to: editor)
        }
    }

    @Test func `contributions are added one by one`() async throws {
        let container = Container()
        try await container.registerMany(
            Registration((any Exporter).self, lifetime: .singleton) { _ in try await PDFExporter() }
                .onDispose { exporter in try await exporter.close() },
            key: "pdf")
        #expect(try await container.resolveMap((any Exporter).self, keyedBy: String.self).count == 1)
        try await container.registerMany((any Plugin).self) { _ in SpellChecker() }
        try await container.registerMany((any Plugin).self) { _ in WordCounter() }
        let plugins = try await container.resolveMany((any Plugin).self)
        #expect(plugins.count == 2)
    }

    @Test func `a job runs with the handler of its kind`() async throws {
        let container = Container {
            Registration((any JobHandler).self) { _ in MailHandler() }.intoMany(key: "mail")
        }
        let job = Job(kind: "mail")
        let subject = try await handle(job, in: container)
        #expect(subject == "mail")
    }

    private func handle(_ job: Job, in container: Container) async throws -> String {
        try await container.withInstance((any JobHandler).self, contributedAs: job.kind) { handler in
            try await handler.run(job)
        }
    }

    @Test func `a pool is leased`() async throws {
        let container = Container {
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in TenantPool(tenant) }
        }
        try await container.withInstance(TenantPool.self, arguments: "acme") { pool in
            try await pool.query("…")
        }
    }

    @Test func `a unit of work leases its pool`() async throws {
        typealias UnitOfWork = LeasingWork
        let container = Container {
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in TenantPool(tenant) }
            Registration(UnitOfWork.self, lifetime: .scoped) { r in
                UnitOfWork(pool: try await r.lease(TenantPool.self, arguments: "acme"))
            }
        }
        try await container.withScope("job") { scope in
            let work = try await scope.resolve(UnitOfWork.self)
            try await work.pool.query("…")
        }
    }

    @Test func `a scope has instances of its own`() async throws {
        let container = Container {
            Registration(CurrentUser.self, lifetime: .scoped) { _ in CurrentUser() }
        }
        try await container.withScope("request-42") { scope in
            let user = try await container.resolve(CurrentUser.self)  // the request's own
            try await user.greet(in: scope)
        }
    }

    @Test func `a factory needs no resolver`() async throws {
        let container = Container {
            Registration(lifetime: .singleton) { Cache() }
        }
        _ = try await container.resolve(Cache.self)
    }

    @Test func `a start has a report`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }.eager()
            Registration(Cache.self, lifetime: .singleton) { _ in try await Cache.warm() }.eager()
        }
        let report = try await container.start()
        print(report)  // start took 2.3 s; Database took 2.1 s of it
        #expect(report.description.contains("start took"))
    }

    @Test func `a failed start names the service`() async throws {
        struct Refused: Error {}
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in throw Refused() }.eager()
        }
        func start() async throws {
            do {
                try await container.start()
            } catch {
                // start failed after 2.1 s: Catalogue → Database: connection refused
                throw container.startFailure ?? error
            }
        }
        let failure = await #expect(throws: StartFailure.self) { try await start() }
        #expect(failure?.service?.description.hasSuffix("Database") == true && failure?.underlying is Refused)
    }

    @Test func `a repository is decorated`() async throws {
        let container = Container {
            Registration((any UserRepository).self) { _ in SQLUserRepository() }
            Registration(Logger.self) { _ in Logger() }
        }
        try await container.decorate((any UserRepository).self) { resolver, inner in
            LoggingRepository(inner, logger: try await resolver.resolve())
        }
        #expect(try await container.resolve((any UserRepository).self) is LoggingRepository)
    }

    @Test func `an interceptor slows factories down`() async throws {
        struct SlowFactories: ContainerInterceptor {
            let clock: any Clock<Duration>
            var wantedEvents: ContainerEvent.Kinds { [] }

            nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
                if call.kind == .factory { try await clock.sleep(for: .milliseconds(20)) }
            }
        }
        let container = Container(observers: [SlowFactories(clock: ContinuousClock())]) { AppModule() }
        #expect(await container.isRegistered(Logger.self))
        let clock = SkippingClock()
        let skipping = Container(observers: [SlowFactories(clock: clock)]) { AppModule() }
        _ = try await skipping.resolve(Logger.self)
        await clock.sleeps.passed()
    }

    @Test func `an observer logs events`() async throws {
        struct EventLog: ContainerObserver {
            func container(_ container: Container, did event: ContainerEvent) {
                print(container.name ?? "container", event)
            }
        }
        let container = Container(name: "app", observers: [EventLog()]) { AppModule() }
        _ = try await container.resolve(Logger.self)
    }

    @Test func `a screen owns its scope`() async throws {
        let container = Container { Registration(using: Player.init) }
        let screen = try PlayerScreen(in: container, playing: Song(title: "Ode"))
        #expect(try await screen.load().song.title == "Ode")
    }

    @Test func `the scope of a streamed response ends with its last byte`() async throws {
        let work = UnitOfWork()
        let container = Container {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in work }
                .onDispose { work, reason in
                    if reason.error == nil { try await work.commit() } else { await work.rollBack() }
                }
        }
        let response = try await respond(to: Request(), in: container) { _ in
            try await Container.current?.resolve(UnitOfWork.self).run()
            return Response(body: ResponseBody { writer in writer("bytes") })
        }
        #expect(await work.log.isEmpty)
        try await response.body.write { _ in }
        #expect(await work.log == ["committed"])
    }

    private func respond(
        to request: Request, in container: Container, next: @escaping @Sendable (Request) async throws -> Response
    ) async throws -> Response {
        let scope = try OwnedScope(in: container, isDrained: true) { Registration(instance: request) }
        var response = try await scope.run { _ in try await next(request) }
        let body = response.body
        response.body = ResponseBody { writer in
            try await scope.finish { _ in try await body.write(writer) }
        }
        return response
    }

    @Test func `a program has its container for as long as it serves`() async throws {
        try await withContainer {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
                .eager()
                .onDispose { database in try await database.close() }
        } operation: { container in
            try await serve(container)
        }
    }

    private func serve(_ container: Container) async throws { _ = try await container.resolve(Database.self) }
}

// MARK: Services

extension ContainerExamples {
    actor UnitOfWork {
        private(set) var log: [String] = []

        func run() {}
        func commit() async throws { log.append("committed") }
        func rollBack() { log.append("rolled back") }
    }

    final class Document: Sendable {}
    struct Editor: Sendable { let document: Document }
    struct Toolbar: Sendable {
        let document: Document
        func attach(to editor: Editor) { #expect(document === editor.document) }
    }

    protocol Exporter: Sendable {
        func close() async throws
    }
    struct PDFExporter: Exporter {
        init() async throws {}
        func close() async throws {}
    }

    protocol Plugin: Sendable {}
    struct SpellChecker: Plugin {}
    struct WordCounter: Plugin {}

    struct Job: Sendable { let kind: String }
    protocol JobHandler: Sendable {
        func run(_ job: Job) async throws -> String
    }
    struct MailHandler: JobHandler {
        func run(_ job: Job) async throws -> String { job.kind }
    }

    actor TenantPool {
        init(_ tenant: String) {}
        func query(_ text: String) async throws {}
    }

    struct LeasingWork: Sendable { let pool: TenantPool }

    final class CurrentUser: Sendable {
        func greet(in scope: Container) async throws {
            #expect(try await scope.resolve(CurrentUser.self) === self)
        }
    }

    actor Database {
        static func open(_ path: String) async throws -> Database { Database() }
        func close() async throws {}
    }
    struct Cache: Sendable {
        static func warm() async throws -> Cache { Cache() }
    }

    protocol UserRepository: Sendable {}
    struct SQLUserRepository: UserRepository {}
    struct Logger: Sendable {}
    struct LoggingRepository: UserRepository {
        init(_ inner: any UserRepository, logger: Logger) {}
    }

    struct AppModule: Module {
        var registrations: Registrations { Registration(Logger.self) { _ in Logger() } }
    }

    struct Song: Sendable { let title: String }
    struct Player: Sendable { let song: Song }
    final class PlayerScreen {
        private let scope: OwnedScope

        init(in container: Container, playing song: Song) throws {
            scope = try OwnedScope(in: container) { Registration(instance: song) }
        }

        func load() async throws -> Player { try await scope.container.resolve(Player.self) }
    }

    struct Request: Sendable {}
    struct Response: Sendable { var body: ResponseBody }
    struct ResponseBody: Sendable {
        let write: @Sendable (@escaping @Sendable (String) -> Void) async throws -> Void

        init(_ write: @escaping @Sendable (@escaping @Sendable (String) -> Void) async throws -> Void) {
            self.write = write
        }
    }
}

/// A clock on which every sleep is over at once, and opens a gate.
private struct SkippingClock: Clock {
    let sleeps = Gate()
    let minimumResolution = Duration.zero
    var now: ContinuousClock.Instant { ContinuousClock().now }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { sleeps.open() }
}
