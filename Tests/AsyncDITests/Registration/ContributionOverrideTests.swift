import AsyncDI
import Testing

/// A keyed contribution that is registered again: in its place, under every policy, here and in scopes.
@Suite(.timeLimit(.minutes(10))) struct ContributionOverrideTests {
    private struct Step: Sendable { let name: String }

    private static func step(_ name: String, _ key: String? = nil, lifetime: Lifetime = .transient) -> Registration<
        Step
    > {
        let registration = Registration(Step.self, lifetime: lifetime) { _ in Step(name: name) }
        return key.map { registration.intoMany(key: $0) } ?? registration.intoMany()
    }

    private struct Steps: Module {
        var registrations: Registrations {
            step("auth", "auth")
            step("log", "log")
            step("route", "route")
        }
    }

    private struct Overriding: Module {
        var registrations: Registrations { step("quiet log", "log") }
    }

    private func names(_ container: Container) async throws -> [String] {
        try await container.resolveMany(Step.self).map(\.name)
    }

    @Test func `a contribution that is replaced keeps its place in the order`() async throws {
        let container = Container { Steps() }
        #expect(try await names(container) == ["auth", "log", "route"])
        try await container.registerMany(Step.self, key: "auth") { _ in Step(name: "new auth") }
        #expect(try await names(container) == ["new auth", "log", "route"])
        try await container.register(Self.step("new log", "log"))
        #expect(try await names(container) == ["new auth", "new log", "route"])
        try await container.registerMany(Step.self) { _ in Step(name: "last") }
        try await container.register(Self.step("newer auth", "auth"))
        #expect(try await names(container) == ["newer auth", "new log", "route", "last"])
    }

    @Test func `one contribution is overridden in a builder, by a later contribution`() async throws {
        let container = Container {
            Self.step("auth", "auth")
            Self.step("log", "log")
            Self.step("quiet log", "log")
            Self.step("route", "route")
        }
        #expect(try await names(container) == ["auth", "quiet log", "route"])
        try await container.validate()
        let byModules = Container {
            Steps()
            Overriding()
        }
        #expect(try await names(byModules) == ["auth", "quiet log", "route"])
        let later = Container { Steps() }
        try await later.register(Overriding())
        #expect(try await names(later) == ["auth", "quiet log", "route"])
    }

    @Test func `a policy decides about equal keys`() async throws {
        let keeping = Container(onDuplicate: .keep) {
            Steps()
            Overriding()
        }
        #expect(try await names(keeping) == ["auth", "log", "route"])
        let rejecting = Container(onDuplicate: .reject) {
            Steps()
            Overriding()
        }
        await expect(.duplicateRegistration) { try await rejecting.resolveMany(Step.self) }
        await #expect(throws: (any Error).self) { try await rejecting.validate() }
    }

    @Test func `a contribution of a scope takes the place of the contribution that it overrides`() async throws {
        let root = Container { Steps() }
        let inside = try await root.withScope {
            Self.step("scope's last")
            Self.step("scope's log", "log")
        } operation: { scope in
            #expect(try await scope.resolveMap(Step.self, keyedBy: String.self)["log"]?.name == "scope's log")
            return try await names(scope)
        }
        #expect(inside == ["auth", "scope's log", "route", "scope's last"])
        #expect(try await names(root) == ["auth", "log", "route"])
    }

    @Test func `of several containers the nearest answers, in the place of the furthest`() async throws {
        let root = Container { Steps() }
        let fallback = Container {
            Self.step("fallback's log", "log")
            Self.step("fallback's own", "own")
        }
        let child = Container(parent: root, fallbacks: [fallback]) { Self.step("child's route", "route") }
        #expect(try await names(child) == ["auth", "fallback's log", "child's route", "fallback's own"])
        try await child.register(Self.step("child's log", "log"))
        #expect(try await names(child) == ["auth", "child's log", "child's route", "fallback's own"])
        #expect(
            try await child.resolveMap(Step.self, keyedBy: String.self).mapValues(\.name) == [
                "auth": "auth", "log": "child's log", "route": "child's route", "own": "fallback's own",
            ])
    }

    @Test func `an override is taken back, and the parent's contribution answers again`() async throws {
        let root = Container { Steps() }
        let child = Container(parent: root) { Self.step("child's log", "log") }
        #expect(try await names(child) == ["auth", "child's log", "route"])
        #expect(await child.unregisterMany(Step.self))
        #expect(try await names(child) == ["auth", "log", "route"])
    }
}
