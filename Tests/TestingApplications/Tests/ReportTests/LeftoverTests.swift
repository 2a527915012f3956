import AsyncDI
import AsyncDITesting
import Shop
import Testing

private let soon = TestContainerOption.disposal(within: .milliseconds(100))
private let kept = Kept()
private let late = Gate()
private let isReported = Gate()

struct EndlessLedger: Module {
    var registrations: Registrations {
        Registration(Ledger.self, lifetime: .singleton) { _ in
            await Gate().wait()
            return Ledger()
        }
    }
}

struct Handle: Sendable {
    let number: Int
}

@Suite(
    .serialized, .timeLimit(.minutes(1)),
    // Around the container, whose report comes after the test.
    .compactMapIssues { issue in
        if issue.comments.contains(where: { $0.rawValue.contains("after the test had ended") }) {
            Task { await isReported.open() }
        }
        return issue
    },
    .container {
        ShopModule()
        Registration(Handle.self, lifetime: .multiton) { (_, number: Int) in Handle(number: number) }
    })
struct LeftoverTests {
    @Test(.container(soon) { EndlessLedger() })
    func `a creation that does not end`() async throws {
        let container = try Container.test
        Task { _ = try await container.resolve(Checkout.self) }
        // Of both parts, this one does not end.
        while container.activity().creations.map { "\($0.instance.key)" } != ["Ledger"] { await Task.yield() }
    }

    @Test(.container(soon) {})
    func `a lease that does not end`() async throws {
        let container = try Container.test
        Task { try await container.withInstance(Handle.self, arguments: 7) { _ in await Gate().wait() } }
        while container.activity().leases.isEmpty { await Task.yield() }
    }

    @Test func `a scope that is left open`() async throws {
        try await Container.test.openScope("session")
    }

    @Test(.container(.allowing(.openScope, because: "the session lasts")) {})
    func `a scope that is left open, allowed`() async throws {
        try await Container.test.openScope("session")
    }

    @Test(
        .container {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }
                .onDispose { _ in throw Jam() }
        })
    func `a hook that throws at the end`() async throws {
        _ = try await Container.test.resolve(Ledger.self)
    }

    @Test func `a hook that throws when its instance is evicted`() async throws {
        _ = try await Container.test.resolve(Printer.self, arguments: 1)
        _ = try await Container.test.resolve(Printer.self, arguments: 2)
        await #expect(throws: DisposalError.self) { try await Container.test.reset(Printer.self) }
    }

    @Test(.container(.reportingLeaks) {}) func `an instance that stays`() async throws {
        kept.keep(try await Container.test.resolve(Ledger.self))
    }

    @Test func `an instance that stays, unless asked for`() async throws {
        kept.keep(try await Container.test.resolve(Ledger.self))
    }

    @Test func `a task that outlives its test`() async throws {
        Task {
            await late.wait()
            let container = try? Container.test
            _ = try? await container?.resolve(Checkout.self)
            try? await container?.withScope("late") { _ in }
        }
    }

    @Test func `the test after that`() async throws {
        await late.open()
        await isReported.wait()
    }

    @Test func `a test that does everything right`() async throws {
        _ = try await Container.test.resolve(Checkout.self)
    }

    @Test func `a test that fails by itself has no report beside its own`() async throws {
        throw Mistake()
    }
}
