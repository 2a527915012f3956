import AsyncDI
import Testing

/// The registrations of a container, and all other calls of it.
@Suite(.timeLimit(.minutes(10)))
struct ContainerCallSites {
    /// A local helper that is not `Sendable`.
    final class Settings {
        var cities = ["Oslo", "Bergen"]
    }

    struct ModulePerCity: Module {
        let name: String

        var registrations: Registrations {
            Registration(City.self, qualifier: name, instance: City(name: name))
        }
    }

    @RegistrationBuilder
    static var collected: Registrations {
        Registration(Pet.self, instance: Pet(name: "Rex"))
        Registration(URL.self, qualifier: .named("collected"), instance: prodURL)
    }

    @Test
    func `modules, arrays of modules and collected registrations`() async throws {
        let modules: [any Module] = [ModulePerCity(name: "Oslo"), ModulePerCity(name: "Bergen")]
        let container = Container {
            modules
            Self.collected
            ModulePerCity(name: "Tromsø")
        }
        #expect(try await container.resolve(City.self, qualifier: "Oslo").name == "Oslo")
        #expect(try await container.resolve(City.self, qualifier: .named("Tromsø")).name == "Tromsø")
        #expect(try await container.resolve(Pet.self).name == "Rex")
        #expect(try await container.resolve(URL.self, qualifier: .named("collected")) == prodURL)
    }

    @Test(arguments: [true, false])
    func `if, else, switch and for`(isTest: Bool) async throws {
        let environment: Env = isTest ? .test : .prod
        let container = Container {
            if isTest {
                Registration(URL.self, instance: URL(string: "test"))
            } else {
                Registration(URL.self, instance: prodURL)
            }
            if isTest {
                Registration(Metrics.self) { _ in Metrics() }
            }
            switch environment {
            case .prod: Registration(Pet.self, instance: Pet(name: "Production"))
            case .test: Registration(Pet.self, instance: Pet(name: "Test"))
            }
            for name in ["Oslo", "Bergen"] {
                Registration(City.self, qualifier: name, lifetime: .singleton) { _ in City(name: name) }
            }
        }
        #expect(try await container.resolve(URL.self) == (isTest ? URL(string: "test") : prodURL))
        #expect((try await container.optional(Metrics.self) != nil) == isTest)
        #expect(try await container.resolve(Pet.self).name == (isTest ? "Test" : "Production"))
        #expect(try await container.resolve(City.self, qualifier: "Bergen").name == "Bergen")
    }

    @Test
    func `the builder closure captures a non-Sendable value`() async throws {
        let settings = Settings()
        func city(_ index: Int) -> Registration<City> {
            let name = settings.cities[index]
            return Registration(qualifier: name, instance: City(name: name))
        }
        let container = Container(name: "local", defaultLifetime: .singleton) {
            let count = settings.cities.count
            city(0)
            Registration(City.self) { _ in City(name: "one of \(count)") }
        }
        #expect(container.name == "local")
        #expect(try await container.resolve(City.self, qualifier: "Oslo").name == "Oslo")
        #expect(try await container.resolve(City.self).name == "one of 2")
    }

    @Test @MainActor
    func `the builder closure captures local helpers on the main actor`() async throws {
        let settings = Settings()
        func city(_ index: Int) -> Registration<City> {
            let name = settings.cities[index]
            return Registration(qualifier: name) { _ in City(name: name) }
        }
        let container = Container {
            city(0)
            city(1)
            for name in settings.cities { Registration(Pet.self, qualifier: name, instance: Pet(name: name)) }
        }
        #expect(try await container.resolve(City.self, qualifier: "Oslo").name == "Oslo")
        #expect(try await container.resolve(Pet.self, qualifier: "Bergen").name == "Bergen")
    }

    @Test
    func `qualifiers: an enum, a string, a named one`() async throws {
        let container = Container {
            Registration(URL.self, qualifier: "main", instance: URL(string: "main"))
            Registration(URL.self, qualifier: Env.prod, instance: prodURL)
        }
        try await container.register(URL.self, qualifier: .named("late")) { _ in URL(string: "late") }
        #expect(try await container.resolve(URL.self, qualifier: "main").string == "main")
        #expect(try await container.resolve(URL.self, qualifier: .named("main")).string == "main")
        #expect(try await container.resolve(URL.self, qualifier: Env.prod) == prodURL)
        #expect(try await container.resolve(URL.self, qualifier: "late").string == "late")
        #expect(try await container.optional(URL.self) == nil)
    }

    @Test
    func `an optional type is nil when the service is missing`() async throws {
        let container = Container { PetModule() }
        let metrics: Metrics? = try await container.resolve()
        let pet: Pet? = try await container.resolve()
        #expect(metrics == nil)
        #expect(pet == Pet(name: "Rex"))
    }

    @Test
    func `errors are caught by their code`() async throws {
        let container = Container(onDuplicate: .reject) {
            PetModule()
            Registration(Owner.self) { _, name in Owner(pet: Pet(name: name), city: City(name: name)) }
        }
        do {
            _ = try await container.resolve(Metrics.self)
            Issue.record("nothing is registered")
        } catch ResolutionError.Code.notRegistered {}
        do {
            try await container.register(Pet.self) { _ in Pet(name: "twice") }
            Issue.record("duplicates are rejected")
        } catch ResolutionError.Code.duplicateRegistration {}
        do {
            _ = try await container.resolve(Owner.self)
            Issue.record("the owner needs an argument")
        } catch let error as ResolutionError {
            #expect(error.code == .argumentMismatch)
            #expect(!error.path.isEmpty)
            #expect(!error.description.isEmpty)
        }
        try await container.dispose()
        do {
            _ = try await container.resolve(Pet.self)
            Issue.record("the container is disposed")
        } catch ResolutionError.Code.disposed {}
    }

    @Test
    func `register, ask and unregister`() async throws {
        let container = Container()
        try await container.register(Registration(Pet.self, instance: Pet(name: "Rex")))
        try await container.register {
            Registration(City.self) { _, name in City(name: name) }
            PetModule()
        }
        try await container.register(Self.collected)
        #expect(await container.isRegistered(Pet.self))
        #expect(await container.isRegistered(City.self, arguments: String.self))
        #expect(await !container.isRegistered(Metrics.self))
        #expect(await container.unregister(Pet.self))
        #expect(await !container.isRegistered(Pet.self))
    }

    @Test
    func `parents and fallbacks`() async throws {
        let parent = Container { Registration(Pet.self, instance: Pet(name: "parent")) }
        let fallback = Container { Registration(City.self, instance: City(name: "fallback")) }
        let child = Container(parent: parent, fallbacks: [fallback]) {
            Registration(using: Owner.init)
        }
        #expect(try await child.resolve(Owner.self) == Owner(pet: Pet(name: "parent"), city: City(name: "fallback")))
    }

    @Test
    func `scopes, with and without a key`() async throws {
        let container = Container(name: "application") {
            PetModule()
            Registration(CurrentUser.self, lifetime: .scoped) { r in try await CurrentUser(db: r.resolve()) }
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
        }
        let session = try await container.openScope("session-1") {
            Registration(Pet.self, instance: Pet(name: "of the session"))
        }
        #expect(try await session.resolve(Pet.self).name == "of the session")
        #expect(try await container.resolve(Pet.self).name == "Rex")
        #expect(await container.scope("session-1") != nil)
        let anonymous = try await container.openScope()
        let users = (try await session.resolve(CurrentUser.self), try await anonymous.resolve(CurrentUser.self))
        #expect(users.0 !== users.1)
        #expect(users.0.db === users.1.db)
        try await container.disposeScope("session-1")
        #expect(await container.scope("session-1") == nil)

        let name = try await container.withScope {
            Registration(Pet.self, instance: Pet(name: "of the request"))
        } operation: { scope in
            #expect(Container.current === scope)
            return try await container.resolve(Pet.self).name
        }
        #expect(name == "of the request")
        let length = try await container.withScope { scope in try await scope.resolve(Pet.self).name.count }
        #expect(length == 3)
        #expect(Container.current == nil)
        try await container.dispose()
    }

    @Test
    func `hooks`() async throws {
        let log = Log()
        let container = Container {
            Registration(HTTPClient.self, lifetime: .scoped) { _ in HTTPClient() }
                .onCreate { _, _ in await log.note("created") }
                .onDispose { client, reason in await log.note(reason.error == nil ? "commit" : "roll back") }
            Registration(SystemClock.self, lifetime: .singleton) { _ in SystemClock() }
                .implements((any Clock).self) { $0 }
                .whenAbandoned(.finish)
                .onDispose { _ in await log.note("closed") }
        }
        #expect(try await container.resolve((any Clock).self).time == 42)
        try await container.withScope("request") { scope in
            _ = try await scope.resolve(HTTPClient.self)
        }
        await #expect(throws: CancellationError.self) {
            try await container.withScope("request") { scope in
                _ = try await scope.resolve(HTTPClient.self)
                throw CancellationError()
            }
        }
        try await container.dispose()
        #expect(await log.lines == ["created", "commit", "created", "roll back", "closed"])
    }

    @Test
    func `properties close a cycle`() async throws {
        let container = Container {
            Registration(Child.self, lifetime: .singleton) { resolver in try await Child(parent: resolver.resolve()) }
            Registration(Parent.self, lifetime: .singleton) { _ in Parent() }
                .injectProperties { resolver, parent in await parent.adopt(try await resolver.resolve()) }
        }
        let parent = try await container.resolve(Parent.self)
        #expect(await parent.child?.parent === parent)
    }
}

private actor Log {
    private(set) var lines: [String] = []

    func note(_ line: String) { lines.append(line) }
}

private final class Child: Sendable {
    let parent: Parent

    init(parent: Parent) { self.parent = parent }
}

private actor Parent {
    private(set) var child: Child?

    func adopt(_ child: Child) { self.child = child }
}
