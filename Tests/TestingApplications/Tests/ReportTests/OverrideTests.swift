import AsyncDI
import AsyncDITesting
import Shop
import Testing

struct MisspelledFakes: Module {
    var registrations: Registrations {
        Registration(String.self, qualifier: "hots", instance: "")
        Registration(FakeGateway.self, instance: FakeGateway())
    }
}

@Suite(.serialized, .timeLimit(.minutes(1)), .container { ShopModule() })
struct OverrideTests {
    @Test(.container { MisspelledFakes() }) func `overrides of nothing, in a module`() {}

    @Test(
        .container {
            Registration((any Gateway).self, instance: FakeGateway())
            Registration(Int.self, instance: 1)
        })
    func `an override of nothing, inside an attribute`() async throws {
        _ = try await Container.test.resolve(Checkout.self)
    }

    @Test(.container { if Bool(true) { Registration(Int.self, instance: 1) } else { Registration(instance: 2) } })
    func `an override of nothing, which the source does not tell`() {}

    @Test(
        .container(.allowing(.overrideOfNothing, because: "the test's own")) {
            Registration(String.self, qualifier: "own", instance: "")
        })
    func `a new registration, allowed`() {}

    @Test(
        .container {
            Registration(String.self, qualifier: "host", instance: "elsewhere")
            Registration((any Gateway).self) { _ in FakeGateway() }
        })
    func `two unused overrides are warnings`() {}

    @Test(
        .container(.allowing(.unusedOverride, because: "the gateway must not be called")) {
            Registration((any Gateway).self, instance: FakeGateway())
        })
    func `an unused override, allowed`() {}

    @Test(.container { Registration((any Gateway).self, instance: FakeGateway()) })
    func `an override that a scope hides`() async throws {
        try await Container.test.withScope {
            Registration((any Gateway).self) { _ in FakeGateway(name: "the scope's") }
        } operation: { scope in
            _ = try await scope.resolve((any Gateway).self)
        }
    }

    @Test(.container { Registration((any Gateway).self, instance: FakeGateway()) }, arguments: 1...2)
    func `each case has its own report`(_ number: Int) async throws {
        if number == 1 { _ = try await Container.test.resolve(Checkout.self) }
    }
}

extension Trait where Self == ContainerTrait {
    static var misspelled: Self { .container { Registration(Int.self, instance: 1) } }
}

extension OverridingSuite {
    @Test func `an unused override of the suite, from above it`() {}
}

@Suite(
    .timeLimit(.minutes(1)), .container { ShopModule() },
    .container { Registration((any Gateway).self, instance: FakeGateway()) })
struct OverridingSuite {
    @Test(.misspelled) func `an override of nothing, by a shared trait`() {}
}
