import AsyncDI
import AsyncDITesting
import Foundation
import Testing

/// Tests that report something, each at the line that says so: `// reports KIND: a part of the message`.
///
/// They are run by ``SpecimenTests``, in a process of their own, and by nothing else.
enum Specimens {
    static let variable = "ASYNCDI_SPECIMENS"
    static let areEnabled = ProcessInfo.processInfo.environment[variable] != nil
    static let file = #filePath
}

private let left = Log<Ledger>()
private let late = Gate()
private let soon = TestContainerOption.disposal(within: .milliseconds(100))

/// Registrations in modules have lines of their own; those inside an attribute have that of the declaration below it.
private struct MisspelledFakes: Module {
    var registrations: Registrations {
        Registration(String.self, qualifier: "hots", instance: "")  // reports override: are String[host]
        Registration(FakeGateway.self, instance: FakeGateway())  // reports override: Nothing is registered
    }
}

private struct BadLedgers: Module {
    enum Kind { case endless, broken }
    let kind: Kind

    var registrations: Registrations {
        switch kind {
        case .endless:
            Registration(Ledger.self, lifetime: .singleton) { _ in  // reports creation: is still being created
                await Gate().wait()
                return Ledger()
            }
        case .broken:
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }  // reports hook: threw at the end
                .onDispose { _ in throw TestError() }
        }
    }
}

private struct PlainLedger: Module {
    var registrations: Registrations {
        Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }  // reports leak: is still alive
    }
}

private struct Numbers: Module {
    var registrations: Registrations {
        Registration(Int.self, lifetime: .multiton) { (_, number: Int) in number }  // reports lease: Int(7)
    }
}

private struct NeedsData: Module {
    var registrations: Registrations {
        Registration(using: { (_: Data) in FakeGateway() }, as: (any Gateway).self)  // reports wiring: Data is not
    }
}

@Suite(
    .enabled(if: Specimens.areEnabled), .serialized, .timeLimit(.minutes(1)),
    .container {
        ShopModule()
        Numbers()
    })
struct ReportSpecimens {
    @Test(.container { MisspelledFakes() }) func `overrides of nothing`() {}

    @Test(.container { Registration(Int.self, instance: 1) })
    func `an override inside an attribute`() {}  // reports overrideOfNothing: The override Int replaces nothing

    @Test(
        .container(.allowing(.overrideOfNothing, because: "the test's own")) {
            Registration(String.self, qualifier: "own", instance: "")
        })
    func `a new registration, allowed`() {}

    @Test(.container { Registration((any Gateway).self, instance: FakeGateway()) })
    func `an unused override`() {}  // reports unusedOverride: resolved neither the override Gateway

    @Test(
        .container(.allowing(.unusedOverride, because: "the gateway must not be asked")) {
            Registration((any Gateway).self, instance: FakeGateway())
        })
    func `an unused override, allowed`() {}

    @Test(.container(soon) { BadLedgers(kind: .endless) })  // reports end: the creation of Ledger
    func `a creation that does not end`() async throws {
        let container = try Container.test
        Task { _ = try await container.resolve(Ledger.self) }
        while container.activity().creations.isEmpty { await Task.yield() }
    }

    @Test(.container(soon) {})  // reports end: the last lease of Int
    func `a lease that does not end`() async throws {
        let container = try Container.test
        Task { try await container.withInstance(Int.self, arguments: 7) { _ in await Gate().wait() } }
        while container.activity().leases.isEmpty { await Task.yield() }
    }

    @Test  // reports openScope: The scope "session" of container "test" is still open
    func `a scope that is left open`() async throws {
        try await Container.test.openScope("session")
    }

    @Test(.container { BadLedgers(kind: .broken) }) func `a hook that throws`() async throws {
        _ = try await Container.test.resolve(Ledger.self)
    }

    @Test(.container(.reportingLeaks) { PlainLedger() }) func `an instance that stays`() async throws {
        left.append(try await Container.test.resolve(Ledger.self))
    }

    @Test  // reports lateRequest: Checkout was requested after the test had ended
    func `a task that outlives its test`() async throws {
        Task {
            await late.wait()
            _ = try? await Container.test.resolve(Checkout.self)
        }
    }

    @Test func `the end of the tests before it`() async throws {
        late.open()
        // The report of the late request comes from a thread and a task of their own.
        try await Task.sleep(for: .milliseconds(500))
    }

    @Test(.container(.allowing(.unusedOverride, because: "only validated")) { NeedsData() })
    func `a container that is not complete`() async throws {
        try await expectWiring()
    }

    @Test func `a graph that has no file`() async throws {
        try await expectGraph(matches: "Missing.json")  // reports graph: Missing.json does not exist
    }

    @Test func `a test that fails by itself`() async throws {
        throw TestError()
    }
}
