import AsyncDI
import AsyncDITesting
import Shop
import XCTest

final class OldTests: XCTestCase {
    func testAScopeIsLeftOpen() async throws {
        try await withTestContainer(report: { report in XCTFail(report.description) }) {
            ShopModule()
        } overrides: {
            Registration(String.self, qualifier: "hots", instance: "")
        } operation: { container in
            _ = try await container.openScope("session")
        }
    }

    func testTheWiringIsComplete() async throws {
        let container = Container(name: "test") { ShopModule() }
        try await expectWiring(of: container)
        try await expectGraph(matches: "Shop.json", of: container)
    }

    func testEverythingIsRight() async throws {
        try await withTestContainer(report: { report in XCTFail(report.description) }) {
            ShopModule()
        } operation: { container in
            _ = try await container.resolve(Checkout.self)
        }
    }
}
