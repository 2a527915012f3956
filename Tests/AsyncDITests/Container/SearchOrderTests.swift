import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }

/// Where a container looks, and in which order.
@Suite(.timeLimit(.minutes(10))) struct SearchOrderTests {
    @Test func `the container itself is asked first, then its fallbacks in order, then its parent`() async throws {
        func naming(
            _ place: String, _ qualifiers: String..., parent: Container? = nil, fallbacks: [Container] = []
        ) -> Container {
            Container(parent: parent, fallbacks: fallbacks) {
                for qualifier in qualifiers { Registration(String.self, qualifier: qualifier) { _ in place } }
            }
        }
        let grandparent = naming("grandparent", "a", "b", "c", "d", "e")
        let parent = naming("parent", "a", "b", "c", "d", parent: grandparent)
        let second = naming("second fallback", "a", "b", "c")
        let first = naming("first fallback", "a", "b")
        let container = naming("itself", "a", parent: parent, fallbacks: [first, second])
        #expect(try await container.resolve(String.self, qualifier: "a") == "itself")
        #expect(try await container.resolve(String.self, qualifier: "b") == "first fallback")
        #expect(try await container.resolve(String.self, qualifier: "c") == "second fallback")
        #expect(try await container.resolve(String.self, qualifier: "d") == "parent")
        #expect(try await container.resolve(String.self, qualifier: "e") == "grandparent")
    }

    @Test func `the nearest registration wins for each key by itself`() async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration(String.self, qualifier: Env.prod) { _ in "parent prod" }
            Registration(String.self) { (_, number: Int) in "parent \(number)" }
        }
        let child = Container(parent: parent) { Registration(String.self, qualifier: Env.prod) { _ in "child prod" } }
        #expect(try await child.resolve(String.self) == "parent")
        #expect(try await child.resolve(String.self, qualifier: Env.prod) == "child prod")
        #expect(try await child.resolve(String.self, arguments: 1) == "parent 1")
        #expect(try await parent.resolve(String.self, qualifier: Env.prod) == "parent prod")
    }

    @Test(arguments: Lifetime.shared)
    func `a nearer registration wins also when it comes after an instance`(lifetime: Lifetime) async throws {
        let root = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) } }
        let middle = Container(parent: root)
        let leaf = Container(parent: middle)
        let far = try await leaf.resolve(Thing.self)
        // The later requests find it without the lock.
        for _ in 0..<3 { #expect(try await leaf.resolve(Thing.self) === far) }
        #expect(far.number == 1)
        try await middle.register(Thing.self, lifetime: lifetime) { _ in Thing(2) }
        #expect(try await leaf.resolve(Thing.self).number == 2)
        try await leaf.register(Thing.self, lifetime: lifetime) { _ in Thing(3) }
        #expect(try await leaf.resolve(Thing.self).number == 3)
        #expect(try await middle.resolve(Thing.self).number == 2)
        #expect(try await root.resolve(Thing.self).number == 1)
        withExtendedLifetime(far) {}
    }

    @Test(arguments: Lifetime.kept)
    func `a nearer registration wins also when it comes after a decorated instance`(lifetime: Lifetime) async throws {
        let root = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) } }
        let middle = Container(parent: root)
        let leaf = Container(parent: middle)
        try await leaf.decorate(Thing.self) { _, inner in Thing(inner.number + 10) }
        for _ in 0..<3 { #expect(try await leaf.resolve(Thing.self).number == 11) }
        try await middle.register(Thing.self, lifetime: lifetime) { _ in Thing(2) }
        for _ in 0..<3 { #expect(try await leaf.resolve(Thing.self).number == 12) }
        #expect(try await root.resolve(Thing.self).number == 1)
    }

    @Test func `a nearer registration that goes uncovers the farther one`() async throws {
        let parent = Container { Registration(Int.self, instance: 1) }
        let child = Container(parent: parent) { Registration(Int.self, instance: 2) }
        #expect(try await child.resolve(Int.self) == 2)
        #expect(await child.unregister(Int.self))
        #expect(try await child.resolve(Int.self) == 1)
    }

    @Test func `a child's registrations are not seen by its parent or siblings`() async throws {
        let parent = Container()
        let child = Container(parent: parent) { Registration(Int.self, instance: 2) }
        let sibling = Container(parent: parent)
        #expect(try await parent.optional(Int.self) == nil)
        #expect(try await sibling.optional(Int.self) == nil)
        #expect(try await child.optional(Int.self) == 2)
    }

    @Test func `a singleton of a fallback is the fallback's own`() async throws {
        let fallback = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let container = Container(fallbacks: [fallback])
        let other = Container(fallbacks: [fallback])
        let thing = try await container.resolve(Thing.self)
        #expect(try await fallback.resolve(Thing.self) === thing)
        #expect(try await other.resolve(Thing.self) === thing)
    }

    @Test func `a fallback is kept alive by the container that falls back to it`() async throws {
        let container = Container(fallbacks: [Container { Registration(Int.self) { _ in 5 } }])
        #expect(try await container.resolve(Int.self) == 5)
    }

    @Test func `an instance of a fallback that is being disposed is not handed out`() async throws {
        let gate = Gate()
        let fallback = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await gate.pass() }
        }
        let container = Container(fallbacks: [fallback])
        _ = try await container.resolve(Thing.self)
        let disposal = Task { try await fallback.dispose() }
        await gate.arrived()
        await expect(.disposed) { try await container.resolve(Thing.self) }
        gate.open()
        try await disposal.value
        await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
    }

    // MARK: Inside withScope

    @Test func `inside withScope an outer container answers with the scope's services`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(String.self) { _ in "application" }
        }
        try await container.withScope("request") {
            Registration(String.self) { _ in "request" }
            Registration(Int.self, instance: 42)
        } operation: { (scope) async throws in
            #expect(try await container.resolve(Thing.self) === scope.resolve(Thing.self))
            #expect(try await container.resolve(String.self) == "request")
            #expect(try await container.resolve(Int.self) == 42)
            #expect(try container.ready(Int.self) == 42)
            #expect(try await container.optional(Int.self) == 42)
        }
        #expect(try await container.resolve(String.self) == "application")
        #expect(try await container.optional(Int.self) == nil)
    }

    @Test func `inside withScope a container below the scope, or beside it, answers for itself`() async throws {
        let container = Container { Registration(String.self) { _ in "application" } }
        let sibling = Container(parent: container) { Registration(String.self) { _ in "sibling" } }
        try await container.withScope("request") {
            Registration(String.self) { _ in "request" }
        } operation: { (scope) async throws in
            let below = Container(parent: scope) { Registration(String.self) { _ in "below" } }
            #expect(try await below.resolve(String.self) == "below")
            #expect(try await sibling.resolve(String.self) == "sibling")
        }
    }

    @Test(arguments: [Lifetime.transient, .graph, .scoped])
    func `a factory's questions are not redirected, so an override may ask for the original`(
        lifetime: Lifetime
    ) async throws {
        let container = Container { Registration(String.self) { _ in "original" } }
        try await container.withScope("request") {
            Registration(String.self, lifetime: lifetime) { _ in
                "overridden " + (try await container.resolve(String.self))
            }
        } operation: { (_) async throws in
            #expect(try await container.resolve(String.self) == "overridden original")
        }
    }

    // MARK: isRegistered

    @Test func `isRegistered looks where resolve does`() async throws {
        let grandparent = Container { Registration(Int.self, instance: 1) }
        let parent = Container(parent: grandparent)
        let fallback = Container { Registration(String.self) { _ in "" } }
        let container = Container(parent: parent, fallbacks: [fallback]) { Registration(Double.self) { _ in 1 } }
        #expect(await container.isRegistered(Double.self))
        #expect(await container.isRegistered(String.self))
        #expect(await container.isRegistered(Int.self))
        #expect(await !container.isRegistered(Bool.self))
        #expect(await !parent.isRegistered(Double.self))
        #expect(await !parent.isRegistered(String.self))
    }

    @Test func `inside withScope, isRegistered of an outer container asks the current scope, as resolve does`()
        async throws
    {
        let container = Container()
        try await container.register(Bool.self) { [unowned container] _ in
            let isRegistered = await container.isRegistered(Int.self)
            let hasAny = await container.hasAnyRegistration(of: Int.self)
            return isRegistered || hasAny
        }
        let outliving = Gate()
        let task = try await container.withScope {
            Registration(Int.self, instance: 5)
            Registration(Double.self) { (_, text: String) in Double(text.count) }
        } operation: { _ in
            #expect(await container.isRegistered(Int.self))
            #expect(await container.isRegistered(Double.self, arguments: String.self))
            #expect(await container.hasAnyRegistration(of: Double.self))
            #expect(await container.isRegistered(Bool.self))
            let isRedirected = try await container.resolve(Bool.self)
            #expect(!isRedirected, "a factory's questions are not redirected")
            return Task {
                await outliving.pass()
                return await (container.isRegistered(Int.self), container.isRegistered(Bool.self))
            }
        }
        outliving.open()
        #expect(await task.value == (false, true))
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `isRegistered tells qualifiers apart`() async throws {
        let container = Container(parent: Container { Registration(Int.self, qualifier: Env.prod) { _ in 1 } })
        #expect(await container.isRegistered(Int.self, qualifier: Env.prod))
        #expect(await !container.isRegistered(Int.self, qualifier: Env.test))
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `isRegistered tells argument types apart`() async throws {
        let container = Container(parent: Container { Registration(Int.self) { (_, a: String, b: Int) in 1 } })
        #expect(await container.isRegistered(Int.self, arguments: String.self, Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: Int.self, String.self))
        #expect(await !container.isRegistered(Int.self, arguments: String?.self, Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: String.self))
        #expect(await !container.isRegistered(Int.self))
    }
}
