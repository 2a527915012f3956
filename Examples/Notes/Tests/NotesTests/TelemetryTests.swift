import AsyncDI
import GRDB
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import NotesService
import Testing
import Tracing

@testable import NotesComposition

@Suite(.timeLimit(.minutes(1)))
struct TelemetryTests {
    @Test
    func `a transaction is a span below its request's`() async throws {
        let tracer = InMemoryTracer()
        try await withTracer(tracer) {
            try await withNotes { world in
                try await world.addTenant()
                try await world.add("traced")
            }
        }
        let request = try #require(tracer.finishedSpans.first { $0.operationName == "/tenants/{tenant}/notes" })
        let transaction = try #require(tracer.finishedSpans.first { $0.operationName == "transaction" })
        #expect(transaction.traceID == request.traceID)
        #expect(transaction.parentSpanID == request.spanID)
        #expect(transaction.attributes.get("tenant") == "acme")
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test
    func `opening a tenant's database is a span below the request that needed it`() async throws {
        let tracer = InMemoryTracer()
        try await withTracer(tracer) {
            try await withNotes(observers: [CreationTracing()]) { world in
                try await world.addTenant()
                try await world.add("first")
                try await world.add("second")
            }
        }
        let requests = tracer.finishedSpans.filter { $0.operationName == "/tenants/{tenant}/notes" }
        let openings = tracer.finishedSpans.filter { $0.operationName == "create TenantDatabase(TenantName)" }
        #expect(openings.count == 1)
        #expect(openings.first?.attributes.get("arguments") == "acme")
        #expect(openings.first?.traceID == requests.first?.traceID)
        #expect(!tracer.finishedSpans.contains { $0.operationName == "create UnitOfWork" })
    }

    @Test
    func `the debug routes show what a request holds while it runs`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            let running = Task { try await world.add("running") }
            try await halt.isReached()
            try await world.app.admin(port: 0).test(.router) { admin in
                let text = try await admin.execute(uri: "/debug/di/activity", method: .get).text
                #expect(text.contains("1 leased instance, 1 open scope"))
                #expect(text.contains("leased TenantDatabase(acme)"))
                let json = try await admin.execute(uri: "/debug/di/activity?format=json", method: .get).text
                #expect(json.contains(#""scopes":[{"#))
            }
            halt.goOn()
            #expect(try await running.value.status == .created)
            #expect(world.app.container.activity().isEmpty)
        }
    }

    @Test
    func `the debug routes show the start as text, as a chart and as a trace`() async throws {
        try await withNotes { world in
            try await world.app.admin(port: 0).test(.router) { admin in
                func start(_ format: String) async throws -> String {
                    try await admin.execute(uri: "/debug/di/start?format=\(format)", method: .get).text
                }
                let (text, chart, trace) = try await (start(""), start("mermaid"), start("trace"))
                #expect(text.contains("TenantFiles → Catalogue took"))
                #expect(chart.contains("    Catalogue :crit, "))
                #expect(trace.contains(#"{"name":"Catalogue","ph":"X","#))
            }
        }
    }

    @Test
    func `metrics count creations and disposals of the container`() async throws {
        let metrics = TestMetrics()
        try await withNotes(observers: [ContainerMetrics(.all, factory: metrics)]) { world in
            try await world.addTenant()
            for number in 0..<3 { try await world.add("\(number)") }
            // Observers receive it in the background.
            try await until {
                (try? metrics.expectCounter("di.disposed", [("service", "UnitOfWork")]).values.count) == 3
            }
        }
        let databases = try metrics.expectTimer("di.created", [("service", "TenantDatabase(TenantName)")])
        #expect(databases.values.count == 1)
        #expect(try metrics.expectTimer("di.created", [("service", "UnitOfWork")]).values.count == 3)
    }

    @Test
    func `a request's log names its tenant`() async throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        try await withNotes(logger: logger) { world in
            try await world.addTenant()
            _ = try await world.get("/tenants/acme/whoami")
        }
        let entry = try #require(handler.entries.first { $0.message == "who am I" })
        #expect(entry.metadata["tenant"] == "acme")
        #expect(entry.metadata["hb.request.id"] != nil)
    }

    @Test
    func `an error of the server is logged, one of the client is not`() async throws {
        struct Broken: Error {}
        let handler = InMemoryLogHandler()
        try await withNotes(logger: Logger(label: "test") { _ in handler }) {
            interrupting { throw Broken() }
        } test: { world in
            #expect(try await world.add("lost").status == .notFound)
            try await world.addTenant()
            #expect(try await world.add("lost").status == .internalServerError)
        }
        let entries = handler.entries.filter { $0.message == "the request failed" }
        #expect(entries.map { $0.metadata["path"] } == ["/tenants/acme/notes"])
        #expect(entries.first?.metadata["error"]?.description.contains("Broken") == true)
    }

    @Test
    func `an export that fails in its middle is logged`() async throws {
        let handler = InMemoryLogHandler()
        try await withNotes(.live, logger: Logger(label: "test") { _ in handler }) {
            Registration((any NoteRepository).self) { _ in BrokenRepository() }
        } test: { world in
            try await world.addTenant()
            let client = try await world.connect()
            await client.send("GET /tenants/acme/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await client.readToEnd()
            #expect(client.text.hasPrefix("HTTP/1.1 200"))
        }
        let entries = handler.entries.filter { $0.level >= .warning }
        #expect(entries.map(\.message) == ["the response is incomplete"])
        #expect(entries.first?.metadata["path"] == "/tenants/acme/export")
        #expect(entries.first?.metadata["error"]?.description.contains("Broken") == true)
    }

    @Test
    func `a client that leaves in the middle of an export is no error of the server`() async throws {
        let handler = InMemoryLogHandler()
        try await withNotes(.live, logger: Logger(label: "test") { _ in handler }) {
            Registration((any NoteRepository).self) { _ in EndlessRepository() }
        } test: { world in
            try await world.addTenant()
            let client = try await world.connect()
            await client.send("GET /tenants/acme/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await until { await world.openScopes() == 1 }
            await client.vanish()
            try await until { await world.openScopes() == 0 }
        }
        #expect(handler.entries.filter { $0.level >= .warning }.map { "\($0)" } == [])
    }

    @Test
    func `the use of an ended container is an error of the server until its shutdown`() async throws {
        let handler = InMemoryLogHandler()
        try await withNotes(logger: Logger(label: "test") { _ in handler }) { world in
            try await world.addTenant()
            try await world.app.container.dispose()
            #expect(try await world.add("lost").status == .internalServerError)
            world.app.readiness.isDraining()
            #expect(try await world.add("lost").status == .serviceUnavailable)
        }
        let entries = handler.entries.filter { $0.level >= .warning }
        #expect(entries.map(\.level) == [.error])
        #expect(entries.first?.metadata["error"]?.description.contains("disposed") == true)
    }

    @Test(arguments: ["notes", "batch"])
    func `clients that leave or send nonsense are no errors of the server`(_ route: String) async throws {
        let handler = InMemoryLogHandler()
        let halt = Halt()
        try await withNotes(.live, logger: Logger(label: "test") { _ in handler }) {
            halt.override
        } test: { world in
            try await world.addTenant()
            let head = "POST /tenants/acme/\(route) HTTP/1.1\r\nHost: localhost\r\n"
            let note = #"{"title": "lost", "text": ""}"#
            for body in ["Content-Length: 99\r\n\r\n[", "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"] {
                let client = try await world.connect()
                await client.send(head + body)
                if !body.contains("nonsense") { try await until { await world.openScopes() == 1 } }
                await client.vanish()
                try await until { await world.openScopes() == 0 }
            }
            let body = route == "batch" ? "[\(note)]" : note
            let client = try await world.connect()
            await client.send(head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
            try await halt.isReached()
            await client.vanish()
            if route == "batch" { try await until { await world.openScopes() == 0 } }
            halt.goOn()
            try await until { await world.openScopes() == 0 }
        }
        #expect(handler.entries.filter { $0.level >= .warning }.map { "\($0)" } == [])
    }

    @Test
    func `a tenant that is not available is a warning, once for each request`() async throws {
        let handler = InMemoryLogHandler()
        try await withNotes(logger: Logger(label: "test") { _ in handler }) { world in
            try await world.addTenant()
            #expect(try await world.add("opens").status == .created)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let file = world.files.database(of: try TenantName("acme"))
            let other = try DatabaseQueue(path: file.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
            #expect(try await world.add("lost").status == .serviceUnavailable)
            try await other.writeWithoutTransaction { try $0.rollback() }
            try other.close()
        }
        let entries = handler.entries.filter { $0.level >= .warning }
        #expect(entries.map(\.level) == [.warning])
        #expect(entries.first?.metadata["error"]?.description.contains("in use by another process") == true)
    }

    @Test
    func `a service that fails its health check makes the health route say so`() async throws {
        try await withNotes { world in
            try await world.app.admin(port: 0).test(.router) { admin in
                #expect(try await admin.execute(uri: "/debug/di/health", method: .get).status == .ok)
                let catalogue = try DatabaseQueue(path: world.files.catalogue.path)
                try await catalogue.write { try $0.drop(table: "tenant") }
                try catalogue.close()
                let response = try await admin.execute(uri: "/debug/di/health", method: .get)
                #expect(response.status == .serviceUnavailable)
                #expect(response.text.contains("Catalogue"))
            }
        }
    }
}
