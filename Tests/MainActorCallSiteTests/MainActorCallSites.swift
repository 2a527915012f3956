import AsyncDI
import Testing

/// Main-actor services, factories and helpers, with no annotation at the call site.
@Suite(.timeLimit(.minutes(10)))
struct MainActorCallSites {
    /// Not `Sendable`, and main-actor bound by default.
    final class Settings {
        var cities = ["Oslo", "Bergen"]
    }

    /// Not `Sendable`, and bound to no actor: a service for `make`.
    nonisolated final class Parser {
        let source: String
        var position = 0

        init(source: String) { self.source = source }
    }

    nonisolated struct Point: Sendable {
        let x: Double
    }

    nonisolated struct Failure: Error {}

    final class Player {
        let track: Int
        private(set) var isStopped = false

        init(track: Int) { self.track = track }

        func stop() { isStopped = true }
    }

    final class ViewModel {
        let owner: Owner

        init(owner: Owner) { self.owner = owner }
    }

    let settings = Settings()

    private func make(city name: String) -> City { City(name: name) }

    @Test
    func `factories: synchronous, asynchronous, throwing, with a helper of the main actor`() async throws {
        let container = Container {
            Registration(Player.self, qualifier: "await") { _ in await Player(track: 1) }
            Registration(Player.self, qualifier: "async") { _ in
                await Task.yield()
                return await Player(track: 2)
            }
            Registration(Player.self, qualifier: "main") { @MainActor _ in Player(track: 3) }
            Registration(City.self, qualifier: "throwing") { _ in throw Failure() }
            Registration(City.self, qualifier: "helper") { _ in await make(city: "Oslo") }
            Registration(Owner.self) { _, name in await Owner(pet: Pet(name: name), city: City(name: name)) }
        }
        #expect(try await container.resolve(Player.self, qualifier: "await").track == 1)
        #expect(try await container.resolve(Player.self, qualifier: "async").track == 2)
        #expect(try await container.resolve(Player.self, qualifier: "main").track == 3)
        #expect(try await container.resolve(City.self, qualifier: "helper") == City(name: "Oslo"))
        #expect(try await container.resolve(Owner.self, arguments: "Rex").pet.name == "Rex")
        await #expect(throws: Failure.self) { try await container.resolve(City.self, qualifier: "throwing") }
    }

    @Test
    func `using takes main-actor initializers, and ready builds a view model`() async throws {
        let container = Container {
            PetModule()
            Registration(using: Owner.init, lifetime: .singleton)
            Registration(using: Owner.init(pet:city:), qualifier: "labelled")
            Registration(using: ViewModel.init)
            Registration(using: SystemClock.init, as: (any Clock).self)
            Registration((any Clock).self, qualifier: "instance", instance: SystemClock())
        }
        let owner = try await container.resolve(Owner.self)
        #expect(owner.city == City(name: "Oslo"))
        #expect(try await container.resolve(ViewModel.self).owner === owner)
        #expect(try await container.resolve((any Clock).self).time == 42)
        #expect(try container.ready((any Clock).self, qualifier: "instance").time == 42)
        let model = try container.ready(using: ViewModel.init)
        #expect(model.owner === owner)
    }

    @Test
    func `the builder closure captures main-actor state`() async throws {
        let modules: [any Module] = [PetModule()]
        let container = Container {
            modules
            Registrations()
            if settings.cities.isEmpty {
                Registration(City.self, instance: City(name: "nowhere"))
            } else {
                Registration(URL.self, qualifier: "main", instance: prodURL)
            }
            for name in settings.cities {
                Registration(City.self, qualifier: name, lifetime: .session) { _ in City(name: name) }
            }
        }
        #expect(try await container.resolve(City.self, qualifier: "Bergen").name == "Bergen")
        #expect(try await container.resolve(URL.self, qualifier: "main") == prodURL)
        #expect(try await container.resolve(URL.self, qualifier: .named("main")) == prodURL)
        let metrics: Metrics? = try await container.resolve()
        let pet: Pet? = try await container.resolve()
        #expect(metrics == nil)
        #expect(pet == Pet(name: "Rex"))
        try await container.reset(.session)
        try await container.reset(City.self, qualifier: "Bergen", arguments: "a", throughAncestors: true)
        try await container.reset(throughAncestors: true)
    }

    @Test
    func `keyed, made and many arguments`() async throws {
        let container = Container {
            Registration(TenantPool.self, keyedBy: { (point: Point) in Int(point.x) }) { _, point in
                try await TenantPool("\(point.x)")
            }
            Registration(making: Parser.self) { (_, source: String) in Parser(source: source) }
            Registration(City.self, lifetime: .multiton) {
                (
                    _, a: Int, b: String, c: Bool, d: Double, e: Int8, f: UInt, g: Character, h: [Int], i: Int?,
                    j: Set<Int>,
                    k: Env, l: URL
                ) in
                City(name: "\(a) \(b) \(c) \(d) \(e) \(f) \(g) \(h) \(i ?? 0) \(j) \(k) \(l.string)")
            }
        }
        let pool = try await container.resolve(TenantPool.self, arguments: Point(x: 1.5))
        #expect(try await container.resolve(TenantPool.self, arguments: Point(x: 1.9)) === pool)
        let parser = try await container.make(Parser.self, arguments: "let x = 1")
        parser.position += 1
        #expect(parser.source.count == 9)
        let city = try await container.resolve(
            City.self,
            arguments: 1, "b", true, 1.5, Int8(5), UInt(6), Character("g"), [8], Int?.some(9), Set([10]), Env.prod,
            prodURL)
        #expect(city.name == "1 b true 1.5 5 6 g [8] 9 [10] prod https://example.com")
    }

    @Test
    func `scopes run in the main actor, and disposal hooks reach it`() async throws {
        var requests = 0
        let container = Container {
            Registration(Player.self, lifetime: .scoped) { _ in await Player(track: 1) }
                .onDispose { player in await player.stop() }
        }
        let player = try await container.withScope("request-42") { scope in
            requests += 1
            settings.cities.append("Tromsø")
            return try await scope.resolve(Player.self)
        }
        #expect(player.isStopped)
        #expect(requests == 1)
        let session = try await container.openScope("session")
        #expect(try await session.resolve(Player.self) !== player)
        try await container.dispose()
        do {
            _ = try await container.resolve(Player.self)
            Issue.record("the container is disposed")
        } catch ResolutionError.Code.disposed {}
    }
}
