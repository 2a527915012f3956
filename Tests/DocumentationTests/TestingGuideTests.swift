import AsyncDI
import AsyncDITesting
import Testing
import XCTest

// The code of Guides/Testing.md.

private protocol PaymentGateway: Sendable {
    func charge(_ amount: Int) async throws
}

private struct RealGateway: PaymentGateway {
    func charge(_ amount: Int) async throws {}
}

private struct Declined: Error {}

private struct DecliningGateway: PaymentGateway {
    func charge(_ amount: Int) async throws { throw Declined() }
}

private actor RecordingGateway: PaymentGateway {
    private(set) var amounts: [Int] = []
    func charge(_ amount: Int) { amounts.append(amount) }
}

private actor CashRegister {
    func open() {}
    func close() {}
}

private struct Checkout: Sendable {
    let gateway: any PaymentGateway
    let register: CashRegister

    func pay(_ amount: Int) async throws -> String {
        try await gateway.charge(amount)
        await register.open()
        return "paid \(amount)"
    }
}

private struct ShopModule: Module {
    var registrations: Registrations {
        Registration((any PaymentGateway).self) { _ in RealGateway() }
        Registration(CashRegister.self, lifetime: .singleton) { _ in CashRegister() }
            .onDispose { register in await register.close() }
        Registration(using: Checkout.init)
    }
}

@Suite(.container { ShopModule() })
struct CheckoutTests {
    @Test func `a checkout charges the card`() async throws {
        let checkout = try await Container.test.resolve(Checkout.self)
        #expect(try await checkout.pay(10) == "paid 10")
    }

    @Test(.container { Registration((any PaymentGateway).self) { _ in DecliningGateway() } })
    func `a declined card leaves the basket alone`() async throws {
        let checkout = try await Container.test.resolve(Checkout.self)
        await #expect(throws: Declined.self) { try await checkout.pay(10) }
    }
}

/// The rest of the guide "Testing", run.
@Suite(.timeLimit(.minutes(10)), .container { ShopModule() })
struct TestingGuideTests {
    @Test(.container { Registration((any PaymentGateway).self, lifetime: .singleton) { _ in RecordingGateway() } })
    func `a checkout charges once`() async throws {
        _ = try await Container.test.resolve(Checkout.self).pay(10)
        let gateway = try await Container.test.resolve((any PaymentGateway).self) as? RecordingGateway
        #expect(await gateway?.amounts == [10])
    }

    @Test(
        .container(.allowing(.openScope, because: "the session lasts as long as the process")) {
            Registration((any PaymentGateway).self) { _ in DecliningGateway() }
        }
    )
    func `a session stays open`() async throws {
        let session = try await Container.test.openScope("session")
        _ = try await session.resolve(Checkout.self)
    }

    @Test func `a reset closes the register`() async throws {
        let events = try Container.test.events
        _ = try await Container.test.resolve(CashRegister.self)
        async let closed = events.first(.disposed, of: CashRegister.self)
        try await Container.test.reset(CashRegister.self)
        _ = try await closed
        #expect(await events.all().contains { $0.kind == .evicted })
    }

    @Test func `dependencies change only where a reviewer sees it`() async throws {
        try await expectWiring()
        try await expectGraph(matches: "Wiring.json")
    }

    @Test func `checkouts survive chaos`() async throws {
        try await withChaos(seed: 1, rounds: 50) { container in
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try await container.resolve(Checkout.self) } }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a preview`() async throws {
        let preview = Container {
            ShopModule()
            Registration((any PaymentGateway).self, instance: DecliningGateway())
        }
        await #expect(throws: Declined.self) { try await preview.resolve(Checkout.self).pay(1) }
        try await preview.dispose()
    }
}

final class CheckoutXCTests: XCTestCase {
    func testCheckout() async throws {
        try await withTestContainer(report: { if !$0.isWarning { XCTFail($0.description) } }) {
            ShopModule()
        } overrides: {
            Registration((any PaymentGateway).self) { _ in DecliningGateway() }
        } operation: { container in
            let checkout = try await container.resolve(Checkout.self)
            do {
                _ = try await checkout.pay(10)
                XCTFail("the card was declined")
            } catch is Declined {}
        }
    }
}
