import AsyncDI

/// One life of the worker's process: a container, and what ends it.
final class WorkerApplication: Sendable {
    static let kinds = ["mail", "invoice", "report", "import"]
    /// More than there are places for connections.
    static let tenants = 24

    /// Counts the objects in memory.
    struct Census: Sendable {
        let connections = Counter()
        let units = Counter()
        let handlers = Counter()

        var isEmpty: Bool { connections.value == 0 && units.value == 0 && handlers.value == 0 }
        var summary: String {
            "\(connections.value) connections, \(units.value) units of work, \(handlers.value) handlers live on"
        }
    }

    let container: Container
    private let database: FakeDatabase
    private let census: Census
    /// Whether it ends without cutting a job short.
    let isDraining = Counter()
    let isEnding = Counter()

    init(_ number: Int, _ database: FakeDatabase, _ census: Census) {
        self.database = database
        self.census = census
        container = Container(name: "worker") {
            Registration(expected: Job.self)
            Registration(Connection.self, lifetime: .multiton(capacity: 6)) { (_, tenant: Int) in
                await Task.yield()
                return Connection(tenant, of: number, to: database, live: census.connections)
            }
            .onDispose { await $0.close() }
            Registration(UnitOfWork.self, lifetime: .scoped) { resolver in
                let job = try await resolver.resolve(Job.self)
                let connection = try await resolver.lease(Connection.self, arguments: job.tenant)
                return UnitOfWork(job, over: connection, to: database, live: census.units)
            }
            .onDispose { work, reason in
                if reason.error == nil { try await work.commit() } else { await work.rollBack() }
            }
            for kind in Self.kinds { Self.handler(of: kind, database, census) }
        }
    }

    private static func handler(of kind: String, _ database: FakeDatabase, _ census: Census) -> Registration<Handler> {
        Registration(Handler.self, lifetime: .singleton) { _ in
            Handler(kind, database.complaints, live: census.handlers)
        }
        .onDispose { await $0.close() }
        .intoMany(key: kind)
    }

    /// Replaces the handler of a kind.
    func reload(_ kind: String) async throws {
        try await container.register(Self.handler(of: kind, database, census))
    }

    /// Runs one attempt at a job; throws when it was not committed.
    func run(_ job: Job) async throws {
        let hasBegun = Counter()
        do {
            try await container.withScope("job", registrations: { Registration(Job.self, instance: job) }) { scope in
                hasBegun.set(1)
                let work = try await scope.resolve(UnitOfWork.self)
                try await withHandler(of: job.kind) { try await $0.run(job, in: work) }
            }
        } catch ResolutionError.Code.disposed where isDraining.value == 1 && hasBegun.value == 1 {
            database.complaints.add("job \(job.id) was cut short by a graceful stop")
            throw CancellationError()
        }
    }

    private func withHandler(of kind: String, _ body: @Sendable (Handler) async throws -> Void) async throws {
        try await container.withInstance(Handler.self, contributedAs: kind) { try await body($0) }
    }

    /// Ends when the jobs that run have ended.
    func drain() async throws {
        isDraining.set(1)
        isEnding.set(1)
        try await container.drain(deadline: .seconds(120))
    }

    /// Ends at once, under the jobs that run.
    func shutDown() async throws {
        isEnding.set(1)
        try await container.dispose()
    }
}
