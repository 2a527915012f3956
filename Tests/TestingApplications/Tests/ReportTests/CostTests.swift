import AsyncDI
import AsyncDITesting
import Foundation
import Shop
import Testing

// The cost of a container for each case: `.ci/check-testing` runs both suites, each in a process of its own, and compares the
// time that they need.

private let isMeasured = ProcessInfo.processInfo.environment["ASYNCDI_MEASURED"] != nil

@Suite(.serialized, .enabled(if: isMeasured))
struct CasesByHand {
    @Test(arguments: 0..<1_000) func `a case`(_ number: Int) async throws {
        try await withContainer {
            ShopModule()
            Registration((any Gateway).self, instance: FakeGateway())
        } operation: { container in
            _ = try await container.resolve(Checkout.self)
        }
    }
}

@Suite(.serialized, .enabled(if: isMeasured), .container(.start) { ShopModule() })
struct CasesWithContainer {
    @Test(.container { Registration((any Gateway).self, instance: FakeGateway()) }, arguments: 0..<1_000)
    func `a case`(_ number: Int) async throws {
        _ = try await Container.test.resolve(Checkout.self)
    }
}
