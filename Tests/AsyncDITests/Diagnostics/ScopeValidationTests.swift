import Testing

@testable import AsyncDI

private struct Request: Sendable {}
private protocol Incoming: Sendable {}
private protocol Thinking: Sendable {}
extension Request: Incoming {}
private struct Handler: Sendable {
    let request: Request
}
private struct Envelope: Sendable {
    let request: any Incoming
}
private struct Server: Sendable {
    let handler: Provider<Handler>
}
private struct Session: Sendable {
    let request: Lazy<Request>
}
private struct Greeting: Sendable {
    let request: Request?
}
private struct Page: Sendable {
    let greeting: Greeting
}

/// The findings about values that scopes supply, each beside what resolving does.
@Suite(.timeLimit(.minutes(10))) struct ScopeValidationTests {
    @Test func `the provider of a singleton resolves in the current scope`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: Handler.init)
            Registration(using: Server.init, lifetime: .singleton)
        }
        #expect(try await problems(app, Server.self) == [])
        #expect(try await problems(app, Provider<Handler>.self) == [])
        let server = try await app.resolve(Server.self)
        try await app.withScope {
            Registration(instance: Request())
        } operation: { _ in
            _ = try await server.handler()
        }
        // Without a scope, or in one that does not supply the value, the handler itself cannot be resolved.
        #expect(try await problems(app, Handler.self) == ["notRegistered: Handler → Request"])
        let scope = try await app.openScope()
        #expect(try await problems(scope, Provider<Handler>.self) == ["notRegistered: Handler → Request"])
        // What a provider leads to must be registered all the same.  // language-ok
        #expect(try await problems(app, Provider<Page>.self).count == 1)
        try await app.dispose()
    }

    @Test(arguments: [Lifetime("session"), .singleton])
    func `the lazy of an instance above the scopes cannot have their values`(lifetime: Lifetime) async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: Session.init, lifetime: lifetime)
        }
        let problems = try await problems(app)
        #expect(problems.count == 1 && problems.first?.hasSuffix("Session → Request") == true)
        let session = try await app.resolve(Session.self)
        await #expect(throws: ResolutionError.self) {
            try await app.withScope {
                Registration(instance: Request())
            } operation: { _ in
                try await session.request()
            }
        }
        try await app.dispose()
    }

    @Test func `an alias of an expected value is the value that the scope supplies`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self).implements((any Incoming).self)
            Registration(using: Envelope.init, lifetime: .scoped)
        }
        let scope = try await app.openScope { Registration(instance: Request()) }
        #expect(try await problems(scope, Envelope.self) == [])
        _ = try await scope.resolve(Envelope.self)
        let standIn = try await app.openScope { Registration(expected: Request.self) }
        #expect(try await problems(standIn, Envelope.self, (any Incoming).self) == [])
        let other = try await app.openScope()
        #expect(try await problems(other, Envelope.self) == ["notRegistered: Envelope → Request"])
        await expect(.notRegistered) { try await other.resolve(Envelope.self) }
        try await app.dispose()
    }

    @Test func `the value itself must be supplied where it is resolved`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self).implements((any Incoming).self)
        }
        let scope = try await app.openScope("job")
        #expect(try await problems(scope, Request.self) == ["notRegistered: Request"])
        #expect(try await problems(scope, (any Incoming).self) == ["notRegistered: Request"])
        #expect(
            try await scope.validationReport(resolving: [Request.self]).problems.first?.message
                == "Request is expected to be supplied by each scope, and container \"job\" does not.")
        await expect(.notRegistered) { try await scope.resolve(Request.self) }
        await expect(.notRegistered) { try await scope.resolve((any Incoming).self) }
        // Each of these can be resolved.
        #expect(try await problems(scope, Request?.self, (any Incoming)?.self) == [])
        #expect(try await problems(app, Provider<Request>.self) == [])
        let supplied = try await app.openScope { Registration(expected: Request.self) }
        #expect(try await problems(supplied, Request.self, (any Incoming).self, Lazy<Request>.self) == [])
        // Called in the scope.
        #expect(try await problems(scope, Provider<Request>.self) == ["notRegistered: Request"])
        try await app.dispose()
    }

    @Test func `nil is kept by a service that does not outlive the scopes`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: Greeting.init, lifetime: Lifetime("session"))
        }
        #expect(try await problems(app) == [])
        #expect(try await app.resolve(Greeting.self).request == nil)
        // A singleton of the container that expects the value would keep nil for all scopes.
        try await app.register(using: Greeting.init, lifetime: .singleton)
        #expect(try await problems(app) == ["notRegistered: Greeting → Request"])
        await expect(.notRegistered) { try await app.resolve(Greeting.self) }
        let child = Container(parent: Container()) {
            Registration(expected: Request.self)
            Registration(using: Greeting.init)
            Registration(using: Page.init, lifetime: .singleton)
        }
        #expect(try await problems(child) == ["notRegistered: Page → Greeting → Request"])
        await expect(.notRegistered) { try await child.resolve(Page.self) }
        try await app.dispose()
    }

    @Test func `an optional value of a scope may be missing later, too`() async throws {
        struct Idea: Thinking { let request: (any Incoming)? }
        struct Later: Sendable { let request: Lazy<Request?> }
        struct Never: Sendable { let request: Lazy<Request>? }
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: Later.init, lifetime: Lifetime("session"))
            Registration(Greeting.self, lifetime: Lifetime("session")) { r in Greeting(request: try await r.resolve()) }
                .injectProperties { resolver, _ in _ = try await resolver.optional(Request.self) }
                .dependencies(Request?.self)
        }
        #expect(try await problems(app) == [])
        #expect(try await app.resolve(Later.self).request() == nil)
        #expect(try await app.resolve(Greeting.self).request == nil)
        let decorated = Container {
            Registration(expected: Request.self).implements((any Incoming).self)
            Decoration((any Incoming).self) { _, inner in inner }
            Registration((any Thinking).self, lifetime: Lifetime("session")) { r in
                Idea(request: try await r.optional((any Incoming).self))
            }
            .dependencies((any Incoming)?.self)
        }
        #expect(try await problems(decorated) == [])
        _ = try await decorated.resolve((any Thinking).self)
        // Such a wrapper is there, and needs the value.
        try await app.register(using: Never.init, lifetime: Lifetime("session"))
        #expect(try await problems(app) == ["notRegistered: Never → Request"])
        let never = try await app.resolve(Never.self)
        await #expect(throws: ResolutionError.self) { try await never.request?() }
        let scope = try await app.openScope()
        #expect(try await problems(scope, Later.self) == [])
        try await app.dispose()
    }

    @Test func `nil is kept by a singleton of a container that does not expect the value itself`() async throws {
        let root = Container(name: "root") { Registration(expected: Request.self) }
        let child = Container(name: "child", parent: root) {
            Registration(using: Greeting.init, lifetime: .singleton)
        }
        #expect(try await problems(child) == [])
        #expect(try await child.resolve(Greeting.self).request == nil)
        let app = Container(name: "app", fallbacks: [root]) {
            Registration(using: Greeting.init)
            Registration(using: Page.init, lifetime: .singleton)
        }
        #expect(try await problems(app) == [])
        #expect(try await app.resolve(Page.self).greeting.request == nil)
        // The value itself is out of reach.
        try await child.register(using: Handler.init, lifetime: .singleton)
        #expect(try await problems(child) == ["notRegistered: Handler → Request"])
        await expect(.notRegistered) { try await child.resolve(Handler.self) }
        try await app.dispose()
        try await root.dispose()
    }

    @Test func `a decoration of nothing is found in a scope`() async throws {
        let app = Container(name: "app") { Registration(using: Greeting.init) }
        let scope = try await app.openScope("job") {
            Decoration(Handler.self) { _, inner in inner }
            Decoration(Greeting.self) { _, inner in inner }
        }
        #expect(try await problems(scope, Greeting.self) == ["notRegistered: Handler"])
        // Those of another container are its own.
        try await app.decorate(Page.self) { _, inner in inner }
        #expect(try await problems(scope, Greeting.self) == ["notRegistered: Handler"])
        #expect(try await problems(app, Greeting.self) == [])
        try await app.dispose()
    }

    // MARK: Cycles

    @Test func `a cycle through a hook is closed where the instance is not shared`() async throws {
        final class Hen: Sendable {}
        struct Egg: Sendable {
            let hen: Hen
        }
        func container(_ lifetime: Lifetime) -> Container {
            Container {
                Registration(Hen.self, lifetime: lifetime) { _ in Hen() }
                    .injectProperties { r, _ in _ = try await r.resolve(Egg.self) }.dependencies(Egg.self)
                Registration(using: Egg.init, lifetime: .singleton)
            }
        }
        #expect(try await problems(container(.transient)) == ["circularDependency: Hen → Egg → Hen"])
        await expect(.circularDependency) { try await container(.transient).resolve(Egg.self) }
        await expect(.circularDependency) { try await container(.transient).resolve(Hen.self) }
        #expect(try await problems(container(.singleton)) == [])
        _ = try await container(.singleton).resolve(Egg.self)
    }

    @Test func `a provider of a lazy holds nothing`() async throws {
        struct Holder: Sendable { let thing: Provider<Lazy<Thing>> }
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.dependencies()
            Registration(using: Holder.init, lifetime: .singleton)
        }
        try await container.validate()
        let holder = try await container.resolve(Holder.self)
        try await container.withScope { scope in
            let thing = try await holder.thing()()
            #expect(try await scope.resolve(Thing.self) === thing)
        }
        let captive = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.dependencies()
            Registration(using: { (_: Lazy<Provider<Thing>>, _: Lazy<Thing>) in 1 }, lifetime: .singleton)
        }
        await #expect(throws: (any Error).self) { try await captive.validate() }
    }

    @Test func `a decorated forwarded type stands for the registration beside it, as at run time`() async throws {
        struct Core: Thinking {}
        struct Wrapped: Thinking { let inner: any Thinking }
        let container = Container(name: "app") {
            Registration(expected: Bool.self)
            Registration(Core.self, lifetime: .scoped) { resolver in
                _ = try await resolver.resolve(Bool.self)
                return Core()
            }
            .dependencies(Bool.self).implements((any Thinking).self)
            Decoration((any Thinking).self) { _, inner in Wrapped(inner: inner) }
        }
        // The scope's own core needs no value, but is not the one behind the forwarded type.
        try await container.withScope("job", registrations: { Registration(instance: Core()) }) { scope in
            let report = try await scope.validationReport(resolving: [(any Thinking).self])
            #expect(report.problems.map(\.code) == [.notRegistered])
            await expect(.notRegistered) { _ = try await scope.resolve((any Thinking).self) }
        }
        try await container.withScope("circle") {
            Registration(instance: true)
            Registration(Core.self, lifetime: .scoped) { resolver in
                _ = try await resolver.resolve((any Thinking).self)
                return Core()
            }
            .dependencies((any Thinking).self)
        } operation: { scope in
            #expect(try await scope.validationReport(resolving: [(any Thinking).self]).problems.isEmpty)
            _ = try await scope.resolve(Core.self)
        }
    }

    @Test func `a contribution is no answer to a request for its service`() async throws {
        struct Check: Sendable {}
        let container = Container(name: "app") { Registration(Check.self) { Check() }.intoMany() }
        #expect(try await container.validationReport(resolving: [Check.self]).problems.map(\.code) == [.notRegistered])
        #expect(try await container.validationReport(resolving: [[Check].self]).problems.isEmpty)
    }
}
