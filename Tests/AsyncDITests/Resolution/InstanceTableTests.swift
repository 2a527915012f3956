import Testing

@testable import AsyncDI

private final class Engine: Sendable {}

private enum Env: Qualifier { case prod, test }
private enum Region: Qualifier { case prod, test }

/// Larger than an existential holds inline.
private struct Address: Qualifier {
    let street: String
    let city: String
    let country: String
}

/// Equal when the numbers are, whatever else differs; and every value has the same hash.
private struct Clash: Qualifier {
    let number: Int
    let note: String
    static func == (first: Clash, second: Clash) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) {}
}

/// Registrations and instances in the places of one container.
@Suite(.timeLimit(.minutes(10))) struct InstanceTableTests {
    private static let qualifiers: [any Qualifier] = [
        Env.prod, Env.test, Region.prod, Region.test, "prod", "",
        Address(street: "Main", city: "Springfield", country: "US"),
        Address(street: "Main", city: "Springfield", country: "UK"), Clash(number: 1, note: ""),
        Clash(number: 2, note: ""),
    ]

    /// Through the overload that knows the qualifier's type.
    private func typed<Name: Qualifier>(_ container: Container, _ name: Name) async throws -> Engine {
        try await container.resolve(Engine.self, qualifier: name)
    }

    @Test func `a qualifier finds its own instance, whether its type is known or not`() async throws {
        let container = Container {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
            for qualifier in Self.qualifiers {
                Registration(Engine.self, qualifier: qualifier as (any Qualifier)?, lifetime: .singleton) { _ in
                    Engine()
                }
            }
        }
        var engines = [try await container.resolve(Engine.self)]
        for qualifier in Self.qualifiers {
            let engine: Engine = try await container.resolve(qualifier: qualifier as (any Qualifier)?)
            // The first of these may miss, the second one hits.
            #expect(try await typed(container, qualifier) === engine)
            #expect(try await typed(container, qualifier) === engine)
            engines.append(engine)
        }
        #expect(Set(engines.map { ObjectIdentifier($0) }).count == engines.count)
        let equal = try await container.resolve(Engine.self, qualifier: Clash(number: 2, note: "equal all the same"))
        #expect(equal === engines.last)
        await #expect(throws: ResolutionError.self) {
            _ = try await container.resolve(Engine.self, qualifier: Clash(number: 3, note: ""))
        }
    }

    @Test func `a hit with a qualifier keeps to the container that is asked`() async throws {
        let parent = Container {
            Registration(Engine.self, qualifier: Env.prod, lifetime: .scoped) { _ in Engine() }
            Registration(Engine.self, qualifier: Env.test, lifetime: .singleton) { _ in Engine() }
        }
        let scope = try await parent.openScope("scope")
        let (outer, inner) = (try await typed(parent, Env.prod), try await typed(scope, Env.prod))
        #expect(outer !== inner)
        #expect(try await typed(parent, Env.prod) === outer)
        #expect(try await typed(scope, Env.prod) === inner)
        let shared = try await typed(scope, Env.test)
        #expect(try await typed(parent, Env.test) === shared)
        try await parent.withScope("current") { current in
            let engine = try await typed(current, Env.prod)
            #expect(try await typed(parent, Env.prod) === engine)
        }
        try await parent.dispose()
        await expect(.disposed) { _ = try await typed(parent, Env.test) }
    }

    @Test func `a making registration and one with arguments are not found by their qualifier alone`() async throws {
        let container = Container {
            Registration(Engine.self, qualifier: Env.prod, lifetime: .singleton) { (_, _: Int) in Engine() }
            Registration(making: Engine.self, qualifier: Env.prod) { _ in Engine() }
        }
        _ = try await container.resolve(Engine.self, qualifier: Env.prod, arguments: 1)
        await expect(.argumentMismatch) { _ = try await typed(container, Env.prod) }
    }

    @Test func `an unregistered service hides no registration behind it`() async throws {
        let container = Container {
            for number in 0..<40 {
                Registration(Engine.self, qualifier: Clash(number: number, note: ""), lifetime: .singleton) { _ in
                    Engine()
                }
            }
        }
        var engines: [Engine] = []
        for number in 0..<40 { engines.append(try await typed(container, Clash(number: number, note: ""))) }
        for number in stride(from: 0, to: 40, by: 2) {
            #expect(await container.unregister(Engine.self, qualifier: Clash(number: number, note: "")))
        }
        for number in 0..<40 {
            let clash = Clash(number: number, note: "")
            if number.isMultiple(of: 2) {
                await expect(.notRegistered) { _ = try await typed(container, clash) }
            } else {
                #expect(try await typed(container, clash) === engines[number])
            }
        }
        // Their places are theirs again.
        for number in stride(from: 0, to: 40, by: 2) {
            let clash = Clash(number: number, note: "")
            try await container.register(Engine.self, qualifier: clash, lifetime: .singleton) { _ in Engine() }
            #expect(try await typed(container, clash) !== engines[number])
        }
    }

    @Test func `a table grows with everything in it`() async throws {
        let container = Container()
        var engines: [Engine] = []
        for number in 0..<300 {
            try await container.register(Engine.self, qualifier: "\(number)", lifetime: .singleton) { _ in Engine() }
            engines.append(try await typed(container, "\(number)"))
        }
        for number in 0..<300 { #expect(try await typed(container, "\(number)") === engines[number]) }
    }

    @Test func `a reference to a registration does not keep its instance`() async throws {
        var container: Container? = Container {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
        }
        let key = ServiceKey(Engine.self)
        func current() throws -> Binding {
            let core = try #require(container?.core)
            return try #require(core.withState { _ in core.table.ownRegistration(of: key) })
        }
        let first = try current()
        weak let old = try await container?.resolve(Engine.self)
        #expect(old != nil)
        try await container?.register(Engine.self, lifetime: .singleton) { _ in Engine() }
        #expect(old == nil, "its registration was replaced")
        let second = try current()
        #expect(first !== second)
        weak let new = try await container?.resolve(Engine.self)
        #expect(new != nil)
        #expect(await container?.unregister(Engine.self) == true)
        #expect(new == nil, "its registration is gone")
        try await container?.register(Engine.self, lifetime: .singleton) { _ in Engine() }
        let third = try current()
        weak let last = try await container?.resolve(Engine.self)
        #expect(last != nil)
        container = nil
        #expect(last == nil, "its container is gone")
        withExtendedLifetime((first, second, third)) {}
    }

    @Test func `the parts of every registration are small`() {
        let word = MemoryLayout<UnsafeRawPointer>.size
        #expect(MemoryLayout<ServiceKey>.size == 3 * word)
        // A byte besides the reference, which LeakSanitizer could not follow with the kind in its upper bits.
        #expect(MemoryLayout<Lifetime?>.size == word + 1)
        #expect(MemoryLayout<Registration<Engine>>.size == word)
        #expect(MemoryLayout<Registrations>.size == word)
    }

    @Test func `registrations are values: each container has its own instances`() async throws {
        let registrations = Registrations {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
            Registrations {
                Registration(Engine.self, qualifier: Env.prod, lifetime: .singleton) { _ in Engine() }
            }
        }
        let (first, second) = (Container(registrations: registrations), Container(registrations: registrations))
        let engines = [
            try await first.resolve(Engine.self), try await second.resolve(Engine.self),
            try await typed(first, Env.prod), try await typed(second, Env.prod),
        ]
        #expect(Set(engines.map { ObjectIdentifier($0) }).count == 4)
    }
}
