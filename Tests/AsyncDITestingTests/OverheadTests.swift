import AsyncDI
import AsyncDITesting
import Foundation
import Testing

/// The cost of a container for each case, measured when a variable of the environment says so:
/// `ASYNCDI_MEASURE=1 swift test --filter OverheadTests`.
@Suite(
    .timeLimit(.minutes(10)), .serialized, .enabled(if: ProcessInfo.processInfo.environment["ASYNCDI_MEASURE"] != nil))
struct OverheadTests {
    static let cases = 1_000

    private static func print(_ what: String, _ duration: Duration) {
        Swift.print("\(what): \(duration / cases) for each of \(cases)")
    }

    private static let clock = ContinuousClock()

    @Test func `a container by hand`() async throws {
        let time = try await Self.clock.measure {
            for _ in 0..<Self.cases {
                try await withContainer {
                    ShopModule()
                } operation: {
                    _ = try await $0.resolve(Checkout.self)
                }
            }
        }
        Self.print("withContainer", time)
    }

    @Test func `a test container without and with overrides`() async throws {
        let plain = try await Self.clock.measure {
            for _ in 0..<Self.cases {
                try await withTestContainer {
                    ShopModule()
                } operation: {
                    _ = try await $0.resolve(Checkout.self)
                }
            }
        }
        Self.print("withTestContainer", plain)
        let full = try await Self.clock.measure {
            for _ in 0..<Self.cases {
                try await withTestContainer(.start, .reportingLeaks) {
                    ShopModule()
                } overrides: {
                    Registration((any Gateway).self, instance: FakeGateway())
                } operation: {
                    _ = try await $0.resolve(Checkout.self)
                }
            }
        }
        Self.print("with an override, .start and .reportingLeaks", full)
    }
}

@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["ASYNCDI_MEASURE"] != nil))
struct CasesWithoutContainer {
    @Test(arguments: 0..<OverheadTests.cases) func `a case`(_ number: Int) {}
}

@Suite(
    .serialized, .enabled(if: ProcessInfo.processInfo.environment["ASYNCDI_MEASURE"] != nil),
    .container { ShopModule() })
struct CasesWithContainer {
    @Test(arguments: 0..<OverheadTests.cases) func `a case`(_ number: Int) {}
}
