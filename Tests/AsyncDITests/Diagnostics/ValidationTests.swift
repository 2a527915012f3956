import Testing

@testable import AsyncDI

/// Not private: conformances of types that cannot be found by name are not found.
protocol ValidatedTool: Sendable {}
struct ValidatedHammer: ValidatedTool {}
private struct Font: Sendable {}
private struct Page: Sendable {
    let font: Font
}
private struct Request: Sendable {}
private struct User: Sendable {
    let request: Request
}
private struct Session: Sendable {
    let user: User
}
private struct Audit: Sendable {
    let user: Provider<User>
}
private struct Report: Sendable {
    let user: Provider<User>
}
private final class Parent: Sendable {
    init(child: Child) {}
}
private final class Child: Sendable {
    init(name: String, parent: Parent) {}
    init(name: String) {}
}
protocol ValidatedPlugin: Sendable {}
private struct Speller: ValidatedPlugin {}
private struct Host: Sendable {
    let plugins: [any ValidatedPlugin]
}
private struct Hen: Sendable {
    let egg: Egg
}
private final class Egg: Sendable {
    init(hen: Hen) {}
}
private struct Reader: Sendable {
    let page: Page?
    let resolver: Resolver
}

/// The findings of `validate()`, without running a factory; ``DeclarationTests`` has those of each kind of dependency.
@Suite(.timeLimit(.minutes(10))) struct ValidationTests {
    @Test func `a complete container is valid, and no factory runs`() async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in
                Issue.record("a factory ran")
                return Font()
            }
            Registration(using: Page.init)
            Registration(using: Reader.init)
            Registration(Speller.self) { _ in Speller() }.dependencies().implements((any ValidatedPlugin).self) { $0 }
        }
        try await container.validate()
        let report = try await container.validationReport()
        #expect(report.problems.isEmpty)
        // A reader has a resolver.
        #expect(report.opaque.map(\.key.description) == ["Font", "Reader"])
        #expect(report.opaque.first?.site?.fileID == "AsyncDITests/ValidationTests.swift")
    }

    @Test func `every problem is found at once`() async throws {
        let container = Container(name: "app", onDuplicate: .reject) {
            Registration(using: Page.init)
            Registration(using: Hen.init)
            Registration(using: Egg.init)
            Registration(Request.self, lifetime: .scoped) { _ in Request() }
            Registration(using: User.init)
            Registration(using: Session.init, lifetime: .singleton)
            Registration(Speller.self) { (_, _: Int) in Speller() }
            Registration(Reader.self) { _ in throw TestError() }.dependencies(Speller.self, Optional<Speller>.self)
            Registration(Request.self) { _ in Request() }
            Registration(Int.self) { _ in 1 }.onDispose { _ in }
            Decoration(String.self) { _, inner in inner }
        }
        #expect(
            try await problems(container) == [
                "duplicateRegistration: Request", "invalidRegistration: Int", "notRegistered: String",
                "notRegistered: Page → Font", "argumentMismatch: Reader → Speller",
                "circularDependency: Hen → Egg → Hen",
            ])
    }

    @Test func `a captive is found through a graph service`() async throws {
        let container = Container(name: "app") {
            Registration(Request.self, lifetime: .scoped) { _ in Request() }
            Registration(using: User.init)
            Registration(using: Session.init, lifetime: .singleton)
        }
        #expect(try await problems(container) == ["captiveDependency: Session → User → Request"])
        // The message is that of resolving.
        let thrown = await #expect(throws: ResolutionError.self) { try await container.resolve(Session.self) }
        let found = await #expect(throws: ValidationError.self) { try await container.validate() }
        #expect(found?.problems.first?.description == thrown?.description)
    }

    @Test func `a value that scopes supply is known, and nothing long-lived may hold it`() async throws {
        let expecting = Container {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .scoped)
        }
        #expect(try await problems(expecting) == [])
        try await expecting.register(using: Session.init, lifetime: .singleton)
        // A singleton's user would be the root's own, with a request that no scope supplies.
        #expect(try await problems(expecting) == ["captiveDependency: Session → User"])
        let direct = Container {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .singleton)
        }
        // Nothing creates the value, and so it is no captive.
        #expect(try await problems(direct) == ["notRegistered: User → Request"])
    }

    @Test func `a value that scopes supply is out of reach of instances of a container above them`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: User.init)
            Registration(using: Session.init, lifetime: Lifetime("session"))
        }
        let expected = ["notRegistered: Session → User → Request"]
        #expect(try await problems(app) == expected)
        // It is true: no scope reaches it.
        await #expect(throws: ResolutionError.self) {
            try await app.withScope {
                Registration(instance: Request())
            } operation: { _ in
                _ = try await app.resolve(Session.self)
            }
        }
        // A scoped user is created for it there, too.
        let scoped = Container {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .scoped)
            Registration(using: Session.init, lifetime: Lifetime("session"))
        }
        #expect(try await problems(scoped) == expected)
        let child = Container(parent: Container()) {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .singleton)
        }
        #expect(try await problems(child) == ["notRegistered: User → Request"])
        // A scope's own declaration stands for the value, and a provider is called at each use.
        let scope = try await Container().openScope {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .singleton)
        }
        #expect(try await problems(scope) == [])
        let provided = Container {
            Registration(expected: Request.self)
            Registration(Session.self, lifetime: Lifetime("session")) { _ in throw CancellationError() }
                .dependencies(Provider<Request>.self)
        }
        #expect(try await problems(provided) == [])
    }

    @Test func `a provider above a scope is no need of the scope`() async throws {
        let app = Container(name: "app") {
            Registration(expected: Request.self)
            Registration(using: User.init, lifetime: .scoped)
            Registration(using: Audit.init, lifetime: .singleton)
            Registration(using: Report.init, lifetime: .scoped)
        }
        #expect(try await problems(app) == [])
        func report(_ service: any Any.Type, registrations: () -> Registrations = { Registrations() })
            async throws -> [String]
        {
            try await problems(app.openScope(registrations: registrations), service)
        }
        #expect(try await report(Audit.self) { Registrations { Registration(expected: Request.self) } } == [])
        #expect(try await report(Audit.self) == [])
        #expect(try await report(User.self) == ["notRegistered: User → Request"])
        // The scope's own service calls its provider in the scope.
        #expect(try await report(Report.self) == ["notRegistered: User → Request"])
        // A hidden registration is not resolved here.
        #expect(
            try await report(User.self) { Registrations { Registration(instance: User(request: Request())) } } == [])
    }

    @Test func `a missing root behind a wrapper is named as a request names it`() async throws {
        let container = Container()
        for service: any Any.Type in [Lazy<Request>.self, Provider<Request>.self] {
            let report = try await container.validationReport(resolving: [service])
            #expect(report.problems.map { $0.path.map(\.description) } == [["Request"]])
        }
    }

    @Test func `a cycle through a service with arguments is found`() async throws {
        let container = Container {
            Registration(instance: "a")
            Registration(using: Parent.init, with: .resolved(by: String.self), lifetime: .singleton)
            Registration(using: Child.init(name:parent:), taking: String.self, lifetime: .multiton)
        }
        #expect(try await problems(container) == ["circularDependency: Parent → Child(String) → Parent"])
        await #expect(throws: ResolutionError.self) { try await container.resolve(Parent.self) }
        // A closure may choose by its argument.
        try await container.register(Child.self, lifetime: .multiton) { (_, name: String) in Child(name: name) }
        #expect(try await problems(container) == [])
    }

    @Test func `dependencies are looked up as a resolution would`() async throws {
        let fallback = Container { Registration(Font.self) { _ in Font() } }
        let root = Container(name: "root") {
            Registration(using: Session.init, lifetime: .singleton)
            Registration(using: User.init)
            Registration(expected: Request.self)
        }
        let child = Container(parent: root, fallbacks: [fallback]) {
            Registration(using: Page.init)
            Registration(instance: Request())
            Registration(Host.self) { _ in Host(plugins: []) }.dependencies(User.self, Session.self)
        }
        // The user is created for the child, with its request; the session belongs to the root.
        #expect(try await problems(child) == ["notRegistered: Session → User → Request"])
        #expect(try await problems(root) == ["notRegistered: Session → User → Request"])
        await root.unregister(Session.self)
        #expect(try await problems(child) == ["notRegistered: Host → Session"])
    }

    @Test func `a cycle of properties is legal`() async throws {
        let container = Container {
            Registration(using: Hen.init, lifetime: .singleton)
            Registration(Egg.self, lifetime: .singleton) { _ in throw TestError() }
                .injectProperties { r, _ in _ = try await r.resolve(Hen.self) }.dependencies(Hen.self)
        }
        #expect(try await problems(container) == [])
    }

    @Test func `several services that could be meant are named`() async throws {
        let container = Container {
            Registration(ValidatedHammer.self) { _ in ValidatedHammer() }
            Registration(ValidatedHammer.self, qualifier: "de") { _ in ValidatedHammer() }
            Registration(Font.self) { _ in Font() }.dependencies((any ValidatedTool).self)
        }
        let error = await #expect(throws: ValidationError.self) { try await container.validate() }
        #expect(
            error?.description.contains("ValidatedHammer, ValidatedHammer[de] conform: add .implements(") == true
                && error?.description.contains("(any ValidatedTool).self, qualifier: nil)") == true)
    }

    @Test func `a decorated service is looked into, and an inherited service may be decorated`() async throws {
        let root = Container { Registration(using: Page.init) }
        let child = Container(parent: root) { Decoration(Page.self) { _, inner in inner } }
        #expect(try await problems(child) == ["notRegistered: Page → Font"])
    }

    @Test func `a disposed container cannot be validated`() async throws {
        let container = Container()
        try await container.dispose()
        await #expect(throws: ResolutionError.self) { try await container.validate() }
    }

    @Test func `a decoration of a value that scopes supply is a problem where the value is expected`() async throws {
        struct User: Sendable {}
        let container = Container(name: "app") {
            Registration(expected: User.self)
            Decoration(User.self) { _, user in user }
        }
        let problem = try await container.validationReport().problems.first
        #expect(problem?.code == .invalidRegistration)
        #expect(problem.map { "\($0)".contains("each scope supplies one") } == true)
        try await container.withScope("request") {
            Registration(instance: User())
            Decoration(User.self) { _, user in user }
        } operation: { scope in
            let problems = try await scope.validationReport().problems
            #expect(problems.isEmpty)
        }
    }
}
