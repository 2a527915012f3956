import AsyncDI
import AsyncDITesting
import Testing

/// The examples in the doc comments of `Sources/AsyncDITesting`.
enum TestingExamples {
    @Suite(.container { AppModule() })
    struct CheckoutTests {
        @Test(.container { Registration((any PaymentGateway).self, instance: FakeGateway()) })
        func `a declined card leaves the basket alone`() async throws {
            let checkout = try await Container.test.resolve(Checkout.self)
            await #expect(throws: Declined.self) { try await checkout.pay(10) }
        }
    }

    @Suite(.container { AppModule() }, .timeLimit(.minutes(10)))
    struct EventTests {
        @Test func `events are awaited`() async throws {
            _ = try await Container.test.resolve(Checkout.self)
            await #expect(throws: NoDatabase.self) { _ = try await Container.test.resolve(Report.self) }
            let events = try Container.test.events
            try await events.first(.created, of: Database.self)  // waits for it
            try await events.first { $0.kind == .failed }  // the first match, past or to come
            let closed = await events.all().filter { $0.kind == .disposed }
            #expect(closed.isEmpty)
        }

        @Test(.container(.start, .allowing(.openScope, because: "the player keeps its scope")) {})
        func `a scope may stay open`() async throws {
            _ = try await Container.test.openScope("player")
        }

        @Test func `checkout survives chaos`() async throws {
            try await withChaos(seed: 1, rounds: 200) {
                AppModule()
            } operation: { container in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<8 { group.addTask { _ = try await container.resolve(Checkout.self) } }
                    try await group.waitForAll()
                }
            }
        }

        @Test func `XCTest has a function`() async throws { try await testCheckout() }

        func testCheckout() async throws {
            try await withTestContainer(report: { if !$0.isWarning { XCTFail($0.description) } }) {
                AppModule()
            } overrides: {
                Registration((any PaymentGateway).self, instance: FakeGateway())
            } operation: { container in
                let checkout = try await container.resolve(Checkout.self)
                XCTAssertTrue(checkout.isReady)
            }
        }
    }

    struct Wiring {
        @Test(.container { AppModule() })
        func `the application is wired`() async throws {
            try await expectWiring()
        }
    }
}

// MARK: Services

// Those of XCTest, which these tests do not import.
private func XCTFail(_ message: String) { Issue.record("\(message)") }
private func XCTAssertTrue(_ value: Bool) { #expect(value) }

extension TestingExamples {
    struct NoDatabase: Error {}
    struct Report: Sendable {}
    actor Database {}
    struct Declined: Error {}
    protocol PaymentGateway: Sendable {
        func charge(_ amount: Int) async throws
    }
    struct CardGateway: PaymentGateway {
        func charge(_ amount: Int) async throws {}
    }
    struct FakeGateway: PaymentGateway {
        func charge(_ amount: Int) async throws { throw Declined() }
    }
    struct Checkout: Sendable {
        let gateway: any PaymentGateway
        let database: Database

        var isReady: Bool { gateway is FakeGateway }
        func pay(_ amount: Int) async throws { try await gateway.charge(amount) }
    }

    struct AppModule: Module {
        var registrations: Registrations {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
            Registration((any PaymentGateway).self) { _ in CardGateway() }
            Registration(using: Checkout.init)
            Registration(Report.self, lifetime: .singleton) { _ in throw NoDatabase() }.dependencies()
        }
    }
}
