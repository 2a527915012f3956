import AsyncDI
import Synchronization
import Testing

/// The guide "Observability", run.
@Suite(.timeLimit(.minutes(10)))
struct ObservabilityTests {
    struct ContainerLog: ContainerObserver {
        let logger: Logger

        var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

        func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
            let arguments = details.arguments.map { "\($0)" }.joined(separator: ", ")
            logger.warning(
                "\(event)", metadata: ["container": "\(container.name ?? "-")", "arguments": "\(arguments)"])
        }
    }

    struct ContainerMetrics: ContainerObserver {
        let metrics: Metrics

        func container(_ container: Container, did event: ContainerEvent) {
            switch event {
            case .created(let key, let duration, _):
                metrics.record(duration, "di.created", service: "\(key)")
                metrics.add(1, "di.alive", service: "\(key)")
            case .disposed(let key): metrics.add(-1, "di.alive", service: "\(key)")
            case .failed(let key, _): metrics.add(1, "di.failed", service: "\(key)")
            case .evicted(let key): metrics.add(1, "di.evicted", service: "\(key)")
            default: break
            }
        }
    }

    struct CreationTracing: ContainerObserver, AroundCreation {
        func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
            let context = ServiceContext.current ?? .topLevel
            return { create in
                try await withSpan("create \(creation.key)", context: context) { _ in try await create() }
            }
        }
    }

    @Test func `a span around each creation has that of its request as parent`() async throws {
        let container = Container(observers: [CreationTracing()]) {
            Registration(String.self, lifetime: .singleton) { _ in ServiceContext.current?.span ?? "" }
        }
        let span = try await ServiceContext.$current.withValue(ServiceContext(span: "GET /")) {
            try await container.resolve(String.self)
        }
        #expect(span == "GET / > create String")
    }

    @Test func `a server that does not answer`() async throws {
        let container = Container(name: "app") {
            Registration(String.self, lifetime: .multiton) { (_, tenant: String) in tenant }
        }
        try await container.withInstance(String.self, arguments: "acme") { _ in
            print(container.activity())
            #expect(container.activity().leases.count == 1)
        }
        #expect(container.activity().isEmpty)
    }

    private struct Unreadable: Error {}

    @Test func `a log and metrics of a container that has tenants`() async throws {
        let (logger, metrics) = (Logger(), Metrics())
        let container = Container(
            name: "notes", observers: [ContainerLog(logger: logger), ContainerMetrics(metrics: metrics)]
        ) {
            Registration(String.self, lifetime: .multiton(capacity: 1)) { (_, tenant: String) in
                if tenant == "broken" { throw Unreadable() }
                return tenant
            }
        }
        for tenant in ["acme", "broken", "globex"] {
            _ = try? await container.resolve(String.self, arguments: tenant)
        }
        try await container.dispose()
        #expect(logger.lines.count == 1)
        let line = try #require(logger.lines.first)
        #expect(line.hasPrefix("failed String(String)") && line.hasSuffix("broken in notes"))
        #expect(metrics.sums == ["di.alive": 0, "di.failed": 1, "di.evicted": 1])
        #expect(metrics.timed == ["di.created", "di.created"])
    }

    @Test func `a database that does not answer`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
                .healthCheck { database in try await database.ping() }
            Registration(using: OrderRepository.init)
            Registration(using: OrderHandler.init)
        }
        _ = try await container.resolve(OrderHandler.self)
        let report = await container.health(timeout: .seconds(2))
        if !report.isHealthy { print(report) }
        // With as much time as a busy machine needs.
        let line = await container.health(timeout: .seconds(600)).description
            .replacing("ObservabilityTests.", with: "")
        #expect(line.hasPrefix("Database: failed after "))
        #expect(line.hasSuffix(": disk I/O error; needed by OrderRepository, OrderHandler"))
        try await container.dispose()
    }

    struct DiskError: Error, CustomStringConvertible {
        var description: String { "disk I/O error" }
    }

    final class Database: Sendable {
        static func open(_ path: String) async throws -> Database { Database() }
        func ping() async throws { throw DiskError() }
    }

    struct OrderRepository: Sendable {
        let database: Database
    }

    struct OrderHandler: Sendable {
        let repository: OrderRepository
    }

    // Stand-ins for the types of logging, metrics and tracing libraries.

    struct ServiceContext: Sendable {
        @TaskLocal static var current: ServiceContext?
        static let topLevel = ServiceContext(span: "-")
        let span: String
    }

    final class Logger: Sendable {
        private let content = Mutex<[String]>([])

        var lines: [String] { content.withLock { $0 } }
        func warning(_ message: String, metadata: [String: String]) {
            content.withLock {
                $0.append("\(message) \(metadata["arguments"] ?? "") in \(metadata["container"] ?? "")")
            }
        }
    }

    final class Metrics: Sendable {
        private let content = Mutex<(sums: [String: Int], timed: [String])>(([:], []))

        var sums: [String: Int] { content.withLock { $0.sums } }
        var timed: [String] { content.withLock { $0.timed } }
        func record(_ duration: Duration, _ label: String, service: String) {
            content.withLock { $0.timed.append(label) }
        }
        func add(_ count: Int, _ label: String, service: String) {
            content.withLock { $0.sums[label, default: 0] += count }
        }
    }
}

private nonisolated(nonsending) func withSpan<R>(
    _ name: String, context: ObservabilityTests.ServiceContext, _ body: (String) async throws -> R
) async throws -> R {
    let span = "\(context.span) > \(name)"
    return try await ObservabilityTests.ServiceContext.$current.withValue(.init(span: span)) { try await body(span) }
}
