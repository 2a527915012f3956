import Testing

@testable import AsyncDI

private struct Kitchen: Sendable {}
private struct Waiter: Sendable {}
private struct Oven: Sendable {
    let waiter: Waiter
}
private protocol Cook: Sendable {}
extension Kitchen: Cook {}

/// Where a registration stands, in errors.
@Suite(.timeLimit(.minutes(10))) struct RegistrationSiteTests {
    @Test func `every form of a registration knows its file and line`() async throws {
        let first = #line
        let registrations = Registrations {
            Registration(Kitchen.self) { _ in Kitchen() }
            Registration { _ in Waiter() }
            Registration(Kitchen.self) { (_, _: Int) in Kitchen() }
            Registration(Kitchen.self, keyedBy: { (number: Double) in Int(number) }) { _, _ in Kitchen() }
            Registration(Kitchen.self, lifetime: .transient) { (_, _: @Sendable () -> Void) in Kitchen() }
            Registration(using: Oven.init)
            Registration(instance: Waiter())
            Registration(expected: Kitchen.self)
            Registration(making: Kitchen.self) { _ in Kitchen() }
        }
        var sites: [RegistrationSite?] = []
        registrations.forEach(draft: { sites.append($0.blueprint.site) })
        #expect(sites.count == 9)
        for (index, site) in sites.enumerated() {
            #expect(site == RegistrationSite(fileID: #fileID, line: UInt(first + 2 + index)))
        }
    }

    @Test func `every form of register knows its file and line`() async throws {
        let container = Container(onDuplicate: .replace)
        let first = #line
        try await container.register(Kitchen.self) { _ in Kitchen() }
        try await container.register { _ in Waiter() }
        try await container.register(Kitchen.self) { (_, _: Int) in Kitchen() }
        try await container.register(Kitchen.self, keyedBy: { (n: Double) in Int(n) }) { _, _ in Kitchen() }
        try await container.register(Kitchen.self, lifetime: .transient) { (_, _: @Sendable () -> Void) in Kitchen() }
        try await container.register(using: Oven.init)
        try await container.register(qualifier: "a", instance: Waiter())
        try await container.register(making: Kitchen.self) { _ in Kitchen() }
        try await container.register(Registration(qualifier: "b", instance: Waiter()).implements(Waiter?.self))
        let lines = container.core.withState { $0.registrations.inOrder.map { $0.blueprint.site?.line } }
        // The forwarded type stands where its service does.
        #expect(lines == (1...9).map { UInt(first + $0) } + [UInt(first + 9)])
    }

    @Test func `each step of a path says where it is registered`() async throws {
        let container = Container(name: "app") {
            Registration(Kitchen.self, fileID: "App/Kitchen.swift", line: 3) { r in
                _ = try await r.resolve(Waiter.self)
                return Kitchen()
            }
            Registration(Waiter.self, fileID: "App/Waiter.swift", line: 7) { r in
                _ = try await r.resolve(Kitchen.self)
                return Waiter()
            }
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Kitchen.self) }
        #expect(
            error?.description.contains(
                "Path: Kitchen (App/Kitchen.swift:3) → Waiter (App/Waiter.swift:7) → Kitchen (App/Kitchen.swift:3).")
                == true)
        #expect(error?.sites.map(\.?.line) == [3, 7, 3])
    }

    @Test func `a missing service has no place, its dependent has one`() async throws {
        let container = Container(name: "app") {
            Registration(using: Oven.init, fileID: "App/Oven.swift", line: 1)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Oven.self) }
        #expect(error?.description.contains("Path: Oven (App/Oven.swift:1) → Waiter.") == true)
        #expect(error?.sites == [RegistrationSite(fileID: "App/Oven.swift", line: 1), nil])
    }

    @Test func `a rejected duplicate says where both are`() async throws {
        let container = Container(name: "app", onDuplicate: .reject) {
            Registration(Waiter.self, fileID: "App/A.swift", line: 1) { _ in Waiter() }
        }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.register(Waiter.self, fileID: "App/B.swift", line: 2) { _ in Waiter() }
        }
        #expect(error?.description.contains("in container \"app\" (App/A.swift:1)") == true)
        #expect(error?.description.hasSuffix(" Registered at App/B.swift:2.") == false, "advice comes last")
        #expect(error?.description.contains(" Registered at App/B.swift:2.") == true)
    }
}
