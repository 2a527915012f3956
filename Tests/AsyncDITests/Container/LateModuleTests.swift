import Testing

@testable import AsyncDI

private final class Mailer: Sendable {
    let isSetUp = Locked(false)
}

/// A module whose service needs `loaded`.
private struct MailModule: Module {
    var registrations: Registrations {
        Registration(Mailer.self, lifetime: .singleton) { _ in Mailer() }
    }

    func loaded(_ resolver: Resolver) async throws {
        let mailer = try await resolver.resolve(Mailer.self)
        await Task.yield()
        mailer.isSetUp.withLock { $0 = true }
    }
}

private final class Draft {}

/// A module that is loaded when a gate opens.
private struct SlowModule: Module {
    let lifetime: Lifetime
    let isLoaded: Gate

    var registrations: Registrations {
        Registration(Mailer.self, lifetime: lifetime) { _ in Mailer() }
        Registration(making: Draft.self) { _ in Draft() }
        Registration(String.self, instance: "given")
        Registration(String.self, qualifier: "named", instance: "given")
        Registration(Mailer.self, qualifier: "named", lifetime: lifetime) { _ in Mailer() }
        Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
    }

    func loaded(_ resolver: Resolver) async throws { await isLoaded.pass() }
}

/// A module that is registered in a container which others already use.
@Suite(.timeLimit(.minutes(10))) struct LateModuleTests {
    /// Without a registration of its own, a container asks the one above it.
    private var own: Registration<String> { Registration(String.self, instance: "own") }

    private func isSetUp(_ container: Container) async throws -> Bool {
        try await container.resolve(Mailer.self).isSetUp.withLock { $0 }
    }

    @Test func `an open scope waits for loaded`() async throws {
        let container = Container {}
        let scope = try await container.openScope("open") { own }
        let inner = try await scope.openScope("inner") { own }
        try await container.register(Registrations { MailModule() })
        #expect(try await isSetUp(inner))
        try await container.dispose()
    }

    @Test func `the body of a scope waits for loaded, also where it asks the container`() async throws {
        for asksScope in [true, false] {
            let container = Container {}
            try await container.withScope("request", registrations: { own }) { scope in
                try await container.register(Registrations { MailModule() })
                #expect(try await isSetUp(asksScope ? scope : container))
            }
        }
    }

    @Test func `a child waits for loaded`() async throws {
        let container = Container {}
        let child = Container(parent: container) { own }
        try await container.register(Registrations { MailModule() })
        #expect(try await isSetUp(child))
    }

    @Test func `a container that falls back, and a scope of it, wait for loaded`() async throws {
        for opensScope in [true, false] {
            let container = Container {}
            let other = Container(fallbacks: [container]) { own }
            let asked = opensScope ? try await other.openScope("open") { own } : other
            try await container.register(Registrations { MailModule() })
            #expect(try await isSetUp(asked))
            try await other.dispose()
        }
    }

    @Test func `a container that has ended is not kept by the one that it fell back on`() async throws {
        let container = Container {}
        weak var core: ContainerCore?
        do {
            let other = Container(fallbacks: [container]) {}
            core = other.core
            try await other.dispose()
        }
        #expect(core == nil)
        #expect(container.core.withState { $0.dependents.isEmpty })
    }

    /// As in the moment between the registration and the announcement below.
    @Test(arguments: [Lifetime.singleton, .scoped, .graph, .transient])
    func `a child that does not know of the module yet waits for loaded`(lifetime: Lifetime) async throws {
        let container = Container {}
        let child = Container(parent: container)
        let isLoaded = Gate()
        try container.core.register(Registrations { SlowModule(lifetime: lifetime, isLoaded: isLoaded) })
        child.core.table.hasPendingModules = false
        let answered = Gate()
        func request(_ work: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
            Task {
                try await work()
                answered.arrive()
            }
        }
        let requests = [
            request { _ = try await child.resolve(Mailer.self) },
            request { _ = try await child.optional(Mailer.self) },
            request { _ = try await child.resolve(Lazy<Mailer>.self)() },
            request { try await child.withInstance(Mailer.self) { _ in } },
            request { _ = try await child.make(Draft.self) },
            request { _ = try await child.resolve(String.self) },
            request { _ = try await child.resolve(String.self, qualifier: "named") },
            request { _ = try await child.resolve(Mailer.self, qualifier: "named") },
            request { _ = try await child.resolve(Thing.self, arguments: 1) },
            request { try await child.withInstance(Thing.self, arguments: 1) { _ in } },
        ]
        await isLoaded.arrived()
        for _ in 0..<100 { await Task.yield() }
        #expect(answered.arrivals == 0)
        isLoaded.open()
        for request in requests { try await request.value }
        #expect(isLoaded.arrivals == 1)
        try await container.dispose()
    }

    @Test func `a fallback that was disposed with a pending module holds no request up`() async throws {
        let fallback = Container {}
        let container = Container(fallbacks: [fallback]) { own }
        try fallback.core.register(Registrations { MailModule() })
        #expect(container.table.hasPendingModules)
        try await fallback.dispose()
        #expect(try await container.resolve(String.self) == "own")
        #expect(!container.table.hasPendingModules)
    }

    @Test func `a scope that opens while a module is registered waits for loaded`() async throws {
        let container = Container {}
        try await container.withScope("request") {
            // Evaluated before the container has the scope.
            Registration(Int.self, instance: registering(in: container))
        } operation: { scope in
            let isSetUp = try await isSetUp(scope)
            #expect(isSetUp)
        }
    }

    private func registering(in container: Container) -> Int {
        do { try container.core.register(Registrations { MailModule() }) } catch { Issue.record(error) }
        return 1
    }
}
