import Testing

@testable import AsyncDI

private struct Font: Sendable {}
private struct Page: Sendable {
    let font: Font
}
private struct Request: Sendable {}
private protocol Plugin: Sendable {}
private struct Speller: Plugin {}
private struct Host: Sendable {
    let plugins: [any Plugin]
}
private struct Hen: Sendable {
    let egg: Egg
}
private final class Egg: Sendable {
    init(hen: Hen) {}
}
private struct Coop: Sendable {
    let hen: Lazy<Hen>
    let egg: Provider<Egg>
}

/// Declared dependencies in a validation: wrappers, contributions, optionals and arguments.
@Suite(.timeLimit(.minutes(10))) struct DeclarationTests {
    @Test func `a root may be a wrapper`() async throws {
        let app = Container {
            Registration((any Plugin).self) { _ in Speller() }.dependencies(Font.self).intoMany()
        }
        for root in [[any Plugin].self, [any Plugin]?.self] as [any Any.Type] {
            let found = try await problems(app, root)
            #expect(found.count == 1 && found[0].hasSuffix("→ Font"), "\(found)")
        }
        #expect(try await problems(app, Optional<Page>.self) == [])
        #expect(try await problems(app, [Page].self).count == 1)
        #expect(try await problems(app, Lazy<Page>.self).count == 1)
        #expect(try await problems(app, Resolver.self) == [])
    }

    @Test func `lazy and provided services must be registered, but close no cycle`() async throws {
        let cyclic = Container {
            Registration(using: Coop.init)
            Registration(Hen.self) { r in try await Hen(egg: r.resolve()) }.dependencies(Coop.self)
            Registration(Egg.self) { r in try await Egg(hen: r.resolve()) }.dependencies(Lazy<Hen>.self)
        }
        #expect(try await problems(cyclic) == [])
        let missing = Container { Registration(using: Coop.init) }
        #expect(try await problems(missing) == ["notRegistered: Coop → Hen", "notRegistered: Coop → Egg"])
        // With arguments that come later.
        let later = Container {
            Registration(Font.self) { _ in Font() }.dependencies(Provider<Page>.self)
            Registration(Page.self) { (_, _: Int) in Page(font: Font()) }.dependencies(Font.self)
        }
        #expect(try await problems(later) == [])
    }

    @Test func `a lazy dependency is held, a provided one is not`() async throws {
        func container<Wrapper: Sendable>(_ wrapper: Wrapper.Type) -> Container {
            Container {
                Registration(Request.self, lifetime: .scoped) { _ in Request() }.dependencies()
                Registration(Font.self, lifetime: .singleton) { _ in Font() }.dependencies(wrapper)
            }
        }
        #expect(try await problems(container(Lazy<Request>.self)) == ["captiveDependency: Font → Request"])
        #expect(try await problems(container(Provider<Request>.self)) == [])
    }

    @Test func `contributions must be registered for an array, and are looked into`() async throws {
        let empty = Container { Registration(using: Host.init) }
        #expect(try await problems(empty) == ["notRegistered: Host → [Plugin]"])
        let full = Container {
            Registration(using: Host.init)
            Registration((any Plugin).self) { _ in Speller() }.intoMany().dependencies(Font.self)
        }
        #expect(try await problems(full) == ["notRegistered: [Plugin] → Font"])
        let optional = Container { Registration(Font.self) { _ in Font() }.dependencies([any Plugin]?.self) }
        #expect(try await problems(optional) == [])
    }

    @Test func `contributions must be registered under keys of a dictionary's type`() async throws {
        let other = Container {
            Registration((any Plugin).self) { _ in Speller() }.intoMany(key: 1).dependencies(Font.self)
            Registration((any Plugin).self) { _ in Speller() }.intoMany().dependencies(Font.self)
            Registration(Page.self) { _ in throw TestError() }.dependencies([String: any Plugin].self)
            Registration(Font.self) { _ in Font() }
        }
        #expect(try await problems(other) == ["notRegistered: Page → [String: Plugin]"])
        await #expect(throws: ResolutionError.self) { try await other.resolve([String: any Plugin].self) }
        try await other.register(
            Registration((any Plugin).self) { _ in Speller() }.intoMany(key: "a").dependencies(Page.self))
        // Those of other types are not needed, and close no cycle.
        #expect(
            try await problems(other) == ["circularDependency: Page → [Plugin][a] → Page"])
    }

    @Test func `qualifiers and arguments are part of a declaration`() async throws {
        let container = Container {
            Registration(Page.self) { _ in Page(font: Font()) }
                .dependency(Font.self, qualifier: "bold").dependency(Font.self, arguments: Int.self)
        }
        #expect(
            try await problems(container) == ["notRegistered: Page → Font[bold]", "notRegistered: Page → Font(Int)"])
        try await container.register(Font.self, qualifier: "bold") { _ in Font() }
        try await container.register(Font.self) { (_, _: Int) in Font() }
        #expect(try await problems(container) == [])
    }

    @Test func `an optional service of a later request may take arguments`() async throws {
        struct Reader: Sendable {
            let page: Provider<Page?>
        }
        let container = Container {
            Registration(Page.self) { (_, _: Int) in Page(font: Font()) }
            Registration(using: Reader.init)
        }
        #expect(try await problems(container) == [])
        #expect(try await container.resolve(Reader.self).page(1) != nil)
        // An optional may be the service itself.
        let registered = Container {
            Registration(Page?.self) { (_, _: Int) in Page(font: Font()) }.dependencies(Font.self)
            Registration(using: Reader.init)
        }
        let found = try await problems(registered)
        #expect(found == ["notRegistered: Page?(Int) → Font"])
        #expect(try await registered.declaredGraph().edges.count == 1)
        // At once, it would be a request without arguments.
        let eager = Container {
            Registration(Page.self) { (_, _: Int) in Page(font: Font()) }
            Registration(Request.self) { _ in Request() }.dependencies(Page?.self)
        }
        #expect(try await problems(eager) == ["argumentMismatch: Request → Page"])
    }

    @Test func `an initializer with a resolver is listed as unknown, a closure without one is known`() async throws {
        struct Text: Sendable {}
        struct Editor: Sendable {
            init(_ resolver: Resolver, _ text: Text) {}
        }
        let container = Container {
            Registration(using: Editor.init)
            Registration(Text.self) { Text() }
            Registration(Int.self, qualifier: "typed") { () -> Int in 1 }
        }
        #expect(try await container.validationReport().opaque.map { "\($0.key)" } == ["Editor"])
        let declared = Container {
            Registration(using: Editor.init).dependencies(Text.self)
            Registration(Text.self) { Text() }
        }
        #expect(try await declared.validationReport().opaque.isEmpty)
    }

    @Test func `hooks leave open what an initializer's service uses`() async throws {
        struct Text: Sendable {}
        let container = Container {
            Registration(using: Text.init).onCreate { resolver, _ in _ = try await resolver.resolve(Int.self) }
            Registration(Int.self, instance: 1)
        }
        let found = try await container.declaredGraph().unreachable(fromServices: [Text.self])
        #expect(found.nodes.map(\.name) == ["Int"])
        #expect(found.opaque.map(\.name) == ["Text"])
        #expect(try await container.validationReport().opaque.isEmpty)
    }
}
