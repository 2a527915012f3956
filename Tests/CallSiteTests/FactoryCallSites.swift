import AsyncDI
import Testing

private func synchronousCity(_ resolver: Resolver) -> City { City(name: "synchronous") }
private func asynchronousCity(_ resolver: Resolver) async -> City { City(name: "asynchronous") }
private func cityLater() async -> City { City(name: "asynchronous") }
private func throwingCity(_ resolver: Resolver) throws -> City { City(name: "throwing") }
@MainActor private func mainActorCity(_ resolver: Resolver) -> City { City(name: "main actor") }

/// Whatever converts to the async throwing closure is a factory, and any function is an initializer.
@Suite(.timeLimit(.minutes(10)))
struct FactoryCallSites {
    struct Failure: Error, Equatable {
        let reason: String
    }

    @MainActor final class ViewModel {
        let title: String

        init(title: String) { self.title = title }
    }

    @Test
    func `synchronous, asynchronous, throwing and main-actor closures`() async throws {
        let container = Container {
            Registration(City.self, qualifier: "sync") { _ in City(name: "sync") }
            Registration(City.self, qualifier: "async") { _ in
                await Task.yield()
                return City(name: "async")
            }
            Registration(City.self, qualifier: "throwing") { _ in
                guard Bool(true) else { throw Failure(reason: "never") }
                return City(name: "throwing")
            }
            Registration(City.self, qualifier: "failing") { _ in throw Failure(reason: "always") }
            Registration(ViewModel.self) { @MainActor _ in ViewModel(title: "main actor") }
            Registration(ViewModel.self, qualifier: "await") { _ in await ViewModel(title: "awaited") }
        }
        #expect(try await container.resolve(City.self, qualifier: "sync") == City(name: "sync"))
        #expect(try await container.resolve(City.self, qualifier: "async") == City(name: "async"))
        #expect(try await container.resolve(City.self, qualifier: "throwing") == City(name: "throwing"))
        #expect(try await container.resolve(ViewModel.self).title == "main actor")
        #expect(try await container.resolve(ViewModel.self, qualifier: "await").title == "awaited")
        do {
            _ = try await container.resolve(City.self, qualifier: "failing")
            Issue.record("the factory throws")
        } catch let failure as Failure {
            #expect(failure == Failure(reason: "always"))
        }
    }

    @Test
    func `functions of every kind`() async throws {
        let container = Container {
            Registration(City.self, qualifier: "sync", factory: synchronousCity)
            Registration(City.self, qualifier: "async", factory: asynchronousCity)
            Registration(City.self, qualifier: "throwing", factory: throwingCity)
            Registration(City.self, qualifier: "main", factory: mainActorCity)
        }
        #expect(try await container.resolve(City.self, qualifier: "sync").name == "synchronous")
        #expect(try await container.resolve(City.self, qualifier: "async").name == "asynchronous")
        #expect(try await container.resolve(City.self, qualifier: "throwing").name == "throwing")
        #expect(try await container.resolve(City.self, qualifier: "main").name == "main actor")
    }

    @Test
    func `the service type comes from the factory`() async throws {
        let container = Container {
            Registration { _ in Pet(name: "Rex") }
            Registration(lifetime: .singleton) { resolver in
                try await Owner(pet: resolver.resolve(), city: City(name: "Oslo"))
            }
        }
        let owner: Owner = try await container.resolve()
        #expect(owner == Owner(pet: Pet(name: "Rex"), city: City(name: "Oslo")))
    }

    @Test
    func `a synchronous factory may leave its resolver out`() async throws {
        let container = Container {
            Registration { Pet(name: "Rex") }
            Registration(qualifier: "typed") { () -> Pet in Pet(name: "Tom") }
            Registration(City.self, lifetime: .singleton) { City(name: "synchronous") }
            Registration(qualifier: "async", lifetime: .singleton) { _ in await cityLater() }
            Registration(qualifier: "main") { @MainActor _ in City(name: "main actor") }
            Registration((any Clock).self) { SystemClock() }
        }
        try await container.register(Pet.self, qualifier: "later") { Pet(name: "Max") }
        try await container.register(City.self, qualifier: "later", lifetime: .singleton) { _ in await cityLater() }
        #expect(try await container.resolve(Pet.self, qualifier: "later").name == "Max")
        #expect(try await container.resolve(City.self, qualifier: "later").name == "asynchronous")
        #expect(try await container.resolve(Pet.self).name == "Rex")
        #expect(try await container.resolve(Pet.self, qualifier: "typed").name == "Tom")
        #expect(try await container.resolve(City.self).name == "synchronous")
        #expect(try await container.resolve(City.self, qualifier: "async").name == "asynchronous")
        #expect(try await container.resolve(City.self, qualifier: "main").name == "main actor")
        #expect(try await container.resolve((any Clock).self).time == 42)
    }

    @Test
    func `using takes initializers and functions, synchronous or not`() async throws {
        let container = Container {
            PetModule()
            Registration(instance: "app.sqlite")
            Registration(using: Owner.init, lifetime: .singleton)
            Registration(using: Owner.init(pet:city:), qualifier: "labelled")
            Registration(using: Database.open, lifetime: .singleton)
            Registration(using: TenantPool.init)
            Registration(using: SystemClock.init, as: (any Clock).self)
            Registration(using: { (owner: Owner, clock: any Clock) in URL(string: "\(owner.city.name)/\(clock.time)") })
        }
        let expected = Owner(pet: Pet(name: "Rex"), city: City(name: "Oslo"))
        #expect(try await container.resolve(Owner.self) == expected)
        #expect(try await container.resolve(Owner.self, qualifier: "labelled") == expected)
        #expect(try await container.resolve(Database.self).path == "app.sqlite")
        #expect(try await container.resolve(TenantPool.self).tenant == "app.sqlite")
        #expect(try await container.resolve((any Clock).self).time == 42)
        #expect(try await container.resolve(URL.self) == URL(string: "Oslo/42"))
    }

    @Test
    func `using resolves optional parameters to nil when they are not registered`() async throws {
        struct Report: Sendable {
            let metrics: Metrics?
            let pet: Pet?
        }
        let container = Container {
            PetModule()
            Registration(using: Report.init(metrics:pet:))
        }
        let report = try await container.resolve(Report.self)
        #expect(report.metrics == nil)
        #expect(report.pet == Pet(name: "Rex"))
    }

    @Test
    func `an instance, of a protocol too`() async throws {
        let container = Container {
            Registration(instance: Pet(name: "Rex"))
            Registration((any Clock).self, instance: SystemClock())
            Registration(URL.self, qualifier: Env.test, instance: URL(string: "test"))
        }
        #expect(try await container.resolve(Pet.self) == Pet(name: "Rex"))
        #expect(try await container.resolve((any Clock).self).time == 42)
        #expect(try await container.resolve(URL.self, qualifier: Env.test) == URL(string: "test"))
        #expect(try container.ready(Pet.self) == Pet(name: "Rex"))
    }

    @Test
    func `making gives a non-Sendable instance to the caller`() async throws {
        let container = Container {
            PetModule()
            Registration(making: Parser.self) { _ in Parser(source: "empty") }
            Registration(making: Parser.self) { (_, source: String) in Parser(source: source) }
            Registration(making: Parser.self, qualifier: "pet") { resolver in
                try await Parser(source: resolver.resolve(Pet.self).name)
            }
        }
        try await container.register(making: Parser.self, qualifier: "late") { (_, first: String, second: Int) in
            Parser(source: "\(first)\(second)")
        }
        let parser = try await container.make(Parser.self)
        parser.advance()
        #expect(parser.position == 1)
        let sent = try await container.make(Parser.self, arguments: "let x = 1")
        // No other reference exists: it may be sent away.
        let length = await Task.detached { sent.source.count }.value
        #expect(length == 9)
        #expect(try await container.make(Parser.self, qualifier: "pet").source == "Rex")
        #expect(try await container.make(Parser.self, qualifier: "late", arguments: "a", 1).source == "a1")
    }

    @Test
    func `ready builds synchronously, bound to the main actor too`() async throws {
        let container = Container { PetModule() }
        try await container.register(Pet.self, lifetime: .singleton) { _ in Pet(name: "Rex") }
        _ = try await container.resolve(Pet.self)
        let owner = try container.ready(using: Owner.init(pet:city:))
        #expect(owner.city == City(name: "Oslo"))
        #expect(throws: ResolutionError.self) { try container.ready(Metrics.self) }
    }
}
