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

@Suite(
    .enabled(if: Specimens.areEnabled), .serialized, .timeLimit(.minutes(1)),
    .container {
        ShopModule()
        Registration(Int.self, lifetime: .multiton) { (_, number: Int) in number }
    })
struct ReportSpecimens {
    @Test(
        .container {
            Registration(String.self, qualifier: "hots", instance: "")  // reports overrideOfNothing: Registered are String[host]
            Registration(FakeGateway.self, instance: FakeGateway())  // reports overrideOfNothing: Nothing is registered for FakeGateway
        })
    func `overrides of nothing`() {}

    @Test(
        .container(.allowing(.overrideOfNothing, because: "the test's own")) {
            Registration(String.self, qualifier: "own", instance: "")
        })
    func `a new registration, allowed`() {}

    @Test(
        .container {
            Registration((any Gateway).self, instance: FakeGateway())  // reports unusedOverride: resolved neither the override Gateway
        })
    func `an unused override`() {}

    @Test(
        .container(.allowing(.unusedOverride, because: "the gateway must not be asked")) {
            Registration((any Gateway).self, instance: FakeGateway())
        })
    func `an unused override, allowed`() {}

    @Test(
        .container(.disposal(within: .milliseconds(50))) {  // reports failedDisposal: was not disposed within 0.05 seconds
            Registration(Ledger.self, lifetime: .singleton) { _ in  // reports unfinishedCreation: is still being created, for
                await Gate().wait()
                return Ledger()
            }
        })
    func `a creation that does not end`() async throws {
        let events = try Container.test.events
        Task { _ = try await Container.test.resolve(Ledger.self) }
        while try Container.test.activity().creations.isEmpty { await Task.yield() }
        _ = events
    }

    @Test(.container(.disposal(within: .milliseconds(50))) {})  // reports failedDisposal: the last lease
    func `a lease that does not end`() async throws {
        let container = try Container.test
        Task { try await container.withInstance(Int.self, arguments: 7) { _ in await Gate().wait() } }
        while container.activity().leases.isEmpty { await Task.yield() }
    }

    @Test(.container {})  // reports openScope: The scope "session" of container "test" is still open
    func `a scope that is left open`() async throws {
        try await Container.test.openScope("session")
    }

    @Test(
        .container {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }  // reports failedDisposal: threw at the end of the test: TestError
                .onDispose { _ in throw TestError() }
        })
    func `a hook that throws`() async throws {
        _ = try await Container.test.resolve(Ledger.self)
    }

    @Test(
        .container(.reportingLeaks) {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }  // reports livingInstance: An instance of Ledger is still alive
        })
    func `an instance that stays`() async throws {
        left.append(try await Container.test.resolve(Ledger.self))
    }

    @Test(.container {})  // reports lateRequest: Checkout was requested after the test had ended
    func `a task that outlives its test`() async throws {
        Task {
            await late.wait()
            _ = try? await Container.test.resolve(Checkout.self)
        }
    }

    @Test(arguments: 1...2) func `the end of the tests before it`(_ number: Int) async throws {
        late.open()
        // The report of the late request comes from a thread and a task of their own.
        try await Task.sleep(for: .milliseconds(300))
    }

    @Test(
        .container {
            Registration(  // reports wiring: notRegistered: Data
                using: { (_: Data) in FakeGateway() }, as: (any Gateway).self)
        }, .container(.allowing(.unusedOverride, because: "only validated")) {})
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
