import AsyncDI
import AsyncDITesting
import Testing

/// The examples of README, run; the first one has a file of its own.
@Suite(.timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test func `the first example runs`() async throws {
        try await run()
    }

    struct FixedUsers: UserRepository {
        let name: String
        func name(of id: Int) async throws -> String { name }
    }

    @Suite(.container { AppModule() })
    struct GreeterTests {
        @Test(.container { Registration((any UserRepository).self, instance: FixedUsers(name: "Grace")) })
        func `the greeting has the user's name`() async throws {
            let greeter = try await Container.test.resolve(Greeter.self)
            #expect(try await greeter.greet(1) == "Hello, Grace!")
        }
    }

    @Test func `a request that returns commits, one that throws rolls back`() async throws {
        let server = makeServer()
        let response = try await handle(Request(id: 1, item: "tea"), in: server)
        #expect(response.text == "ordered tea")
        await #expect(throws: OrderError.self) { _ = try await handle(Request(id: 2, item: ""), in: server) }
        let pool = try await server.resolve(ConnectionPool.self)
        #expect(await pool.log == ["commit", "roll back"])
        try await server.dispose()
        #expect(await pool.log.last == "close")
    }

    @Test func `the handler uses its request's transaction`() async throws {
        let server = makeServer()
        try await server.withScope("request-3") {
            Registration(instance: Request(id: 3, item: "milk"))
        } operation: { scope in
            let handler = try await server.resolve(OrderHandler.self)
            #expect(handler.transaction === (try await scope.resolve(Transaction.self)))
        }
        try await server.dispose()
    }

    @Test func `a singleton that would hold a transaction is refused`() async throws {
        let server = makeServer()
        try await server.register(Hoarder.self, lifetime: .singleton) { r in
            Hoarder(transaction: try await r.resolve())
        }
        await #expect {
            try await server.resolve(Hoarder.self)
        } throws: {
            ResolutionError.Code.captiveDependency ~= $0
        }
        try await server.dispose()
    }

    func makeServer() -> Container {
        Container {
            Registration(ConnectionPool.self, lifetime: .singleton) { _ in try await ConnectionPool.open() }
                .onDispose { pool in await pool.close() }
            Registration(expected: Request.self)  // each scope supplies it
            Registration(using: { (pool: ConnectionPool) in try await pool.begin() }, lifetime: .scoped)
                .onDispose { transaction, reason in
                    if reason.error == nil { try await transaction.commit() } else { await transaction.rollBack() }
                }
            Registration(using: OrderHandler.init)
        }
    }

    func handle(_ request: Request, in server: Container) async throws -> Response {
        try await server.withScope("request-\(request.id)") {
            Registration(instance: request)
        } operation: { _ in
            try await server.resolve(OrderHandler.self).respond()  // its Request and its Transaction
        }
    }

    struct Request: Sendable {
        let id: Int
        let item: String
    }

    struct Response: Sendable {
        let text: String
    }

    struct OrderError: Error {}

    actor ConnectionPool {
        private(set) var log: [String] = []

        static func open() async throws -> ConnectionPool { ConnectionPool() }
        func begin() async throws -> Transaction { Transaction(pool: self) }
        func note(_ event: String) { log.append(event) }
        func close() { log.append("close") }
    }

    final class Transaction: Sendable {
        private let pool: ConnectionPool

        init(pool: ConnectionPool) { self.pool = pool }
        func commit() async throws { await pool.note("commit") }
        func rollBack() async { await pool.note("roll back") }
    }

    struct OrderHandler: Sendable {
        let request: Request
        let transaction: Transaction

        func respond() async throws -> Response {
            if request.item.isEmpty { throw OrderError() }
            return Response(text: "ordered \(request.item)")
        }
    }

    struct Hoarder: Sendable {
        let transaction: Transaction
    }
}
