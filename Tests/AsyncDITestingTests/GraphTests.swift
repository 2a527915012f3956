import AsyncDI
import Foundation
import Testing

@testable import AsyncDITesting

@Suite(.timeLimit(.minutes(10)), .container { ShopModule() })
struct GraphTests {
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "graph-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    @Test func `the shop's graph is the one in the repository`() async throws {
        try await expectWiring()
        try await expectGraph(matches: "Shop.json")
    }

    @Test func `a file is written, compared, and found to differ edge by edge`() async throws {
        try await withFile { path in
            let graph = try await Container.test.declaredGraph().contract
            let file = GraphFile(path, beside: #filePath)
            let missing = try #require(try file.compare(with: graph, mustRewrite: false))
            #expect(missing.contains("does not exist") && missing.contains("ASYNCDI_REWRITE_GRAPHS=1"))
            #expect(try file.compare(with: graph, mustRewrite: true) == nil)
            #expect(try file.compare(with: graph, mustRewrite: false) == nil)

            let changed = try await Container(name: "test") {
                ShopModule()
                Registration(Checkout.self, lifetime: .singleton) { _ in Checkout(gateway: FakeGateway()) }
            }.declaredGraph().contract
            let text = try #require(try file.compare(with: changed, mustRewrite: false))
            #expect(text.contains("- Checkout → Gateway"))
            #expect(text.contains("~ Checkout: graph → singleton"))

            let eager = try await Container(name: "test") {
                Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
            }.declaredGraph().contract
            _ = try file.compare(with: eager, mustRewrite: true)
            #expect(try file.compare(with: eager, mustRewrite: false) == nil)

            try "{".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try file.compare(with: graph, mustRewrite: false)?.contains("has no graph in it") == true)
        }
    }

    @Test func `a file is looked for beside the test`() {
        #expect(GraphFile("Wiring.json", beside: "/app/Tests/AppTests.swift").path == "/app/Tests/Wiring.json")
        #expect(GraphFile("/tmp/Wiring.json", beside: "/app/Tests/AppTests.swift").path == "/tmp/Wiring.json")
    }

    @Test func `a file that cannot be written is an error of the system`() {
        #expect(throws: CocoaError.self) {
            try GraphFile("/nowhere/graph.json", beside: "").compare(with: DependencyGraph(), mustRewrite: true)
        }
    }
}
