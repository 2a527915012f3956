import AsyncDI
import Foundation
import Testing

/// The examples in the doc comments of `Sources/AsyncDI/Diagnostics` and `Sources/AsyncDI/Resolution`.
@Suite(.timeLimit(.minutes(10)))
struct DiagnosticsExamples {
    @Test func `the work under way is printed`() {
        let container = makeContainer()
        print(container.activity())
        #expect(container.activity().isEmpty)
    }

    @Test func `the container is complete`() async throws {
        try await makeContainer().validate()
    }

    @Test func `a scope that supplies every value has no problems`() async throws {
        let container = Container { Registration(using: OrderHandler.init) }
        let scope = try await container.openScope { Registration(expected: Request.self) }
        let report = try await scope.validationReport(resolving: [OrderHandler.self])
        #expect(report.problems.isEmpty)
    }

    @Test func `a recorded graph is drawn, encoded and compared`() async throws {
        let container = makeContainer()
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        let graph = await container.dependencyGraph()
        print(graph.mermaid())
        #expect(try decoded(Data(graph.json().utf8)) == graph)
        try await expectNoDifference(of: container, from: container.declaredGraph().contract)
    }

    private func decoded(_ data: Data) throws -> DependencyGraph {
        let graph = try JSONDecoder().decode(DependencyGraph.self, from: data)
        return graph
    }

    private func expectNoDifference(of container: Container, from contract: DependencyGraph) async throws {
        let difference = try await container.declaredGraph().difference(from: contract)
        #expect(difference.isEmpty, "\(difference)")
    }

    @Test func `a health check answers a probe`() async throws {
        let container = Container(clock: StandingClock()) {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
                .healthCheck { database in try await database.ping() }
        }
        _ = try await container.resolve(Database.self)
        #expect(await probe(container) == .noContent)
    }

    private func probe(_ container: Container) async -> Response {
        let report = await container.health(timeout: .seconds(2))
        guard report.isHealthy else { return .serviceUnavailable(report.description) }
        return .noContent
    }

    @Test func `a start is fast enough`() async throws {
        let container = makeContainer()
        let report = try await container.start()
        print(report)  // start took 2.3 s; Database → Catalog → Cache took 2.1 s of it
        #expect(report.duration < .seconds(3))
    }

    @Test func `a graph is entered again`() async throws {
        let container = makeContainer()
        let editor = try await container.resolve(Editor.self)
        let own = try await container.withGraph(editor.graph) { resolver in
            try await resolver.resolve(GraphIdentifier.self)
        }
        #expect(own == editor.graph)
        try await container.withGraph(editor.graph) { resolver in
            let document = try await resolver.resolve(Document.self)  // the editor's own
            print(document.title)
        }
    }

    @Test func `an error is caught by its code`() async throws {
        #expect(try await Stores.database(of: Container()) is Stores.InMemoryDatabase)
    }

    private func makeContainer() -> Container {
        Container(clock: StandingClock()) {
            Registration(Editor.self) { r in Editor(graph: try await r.resolve(GraphIdentifier.self)) }
                .dependencies(GraphIdentifier.self)
            Registration(Document.self) { _ in Document() }
        }
    }
}

// MARK: Services

extension DiagnosticsExamples {
    struct Editor: Sendable { let graph: GraphIdentifier }
    final class Document: Sendable { let title = "Letter" }
    struct Request: Sendable {}
    struct OrderHandler: Sendable { let request: Request }

    actor Database {
        static func open(_ path: String) async throws -> Database { Database() }
        func ping() async throws {}
    }

    enum Response: Equatable {
        case noContent
        case serviceUnavailable(String)
    }

    enum Stores {
        protocol Database: Sendable {}
        struct InMemoryDatabase: Database {}

        static func database(of container: Container) async throws -> any Database {
            do {
                return try await container.resolve((any Database).self)
            } catch ResolutionError.Code.notRegistered {
                return InMemoryDatabase()
            }
        }
    }
}
