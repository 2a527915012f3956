import AsyncDI
import AsyncDITesting
import Shop
import Testing

struct Report: Sendable {
    let pages: [Double]
}

struct ReportModule: Module {
    var registrations: Registrations {
        Registration(using: Report.init)
    }
}

@Suite(.serialized, .timeLimit(.minutes(1)), .container { ShopModule() })
struct GraphTests {
    @Test(.container(.allowing(.overrideOfNothing, because: "the test's own")) { ReportModule() })
    func `wiring that is not complete`() async throws {
        try await expectWiring()
    }

    @Test(
        .container(.allowing(.unusedOverride, because: "only declared")) {
            Registration((any Gateway).self, lifetime: .scoped) { _ in FakeGateway() }.dependencies(Ledger.self)
        })
    func `a graph that has changed`() async throws {
        try await expectGraph(matches: "Shop.json")
    }

    @Test func `a graph that is the same`() async throws {
        try await expectGraph(matches: "Shop.json")
    }

    @Test func `a graph without a file`() async throws {
        try await expectGraph(matches: "Missing.json")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ChaosTests {
    @Test func `a body that loses its patience with errors`() async throws {
        try await withChaos(seed: 11, rounds: 20, faults: [.throwsError, .suspends]) {
            ShopModule()
        } operation: { container in
            // One after the other, so that the plan has one order.
            do {
                _ = try await container.resolve((any Gateway).self)
                _ = try await container.resolve(Ledger.self)
            } catch {
                throw Mistake()
            }
        }
    }

    @Test func `without a container`() async throws {
        _ = try await Container.test.resolve(Checkout.self)
    }
}
