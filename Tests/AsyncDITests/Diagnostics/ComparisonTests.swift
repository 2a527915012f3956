import Testing

@testable import AsyncDI

/// A recorded run beside the declared dependencies.
@Suite(.timeLimit(.minutes(10))) struct ComparisonTests {
    struct Font: Sendable {}
    struct Page: Sendable {}
    struct Request: Sendable {}
    struct Session: Sendable {}
    struct Editor: Sendable {}
    struct Hen: Sendable {}
    struct Egg: Sendable {
        init(hen: Hen) {}
    }
    struct Nest: Sendable {
        let hen: Lazy<Hen>
        let egg: Provider<Egg>
    }
    protocol Plugin: Sendable {}
    struct Speller: Plugin {}
    final class Draft {}
    struct PageMaker: Sendable {
        let page: Provider<Page>
    }

    /// Compares the dependencies that a service resolves, in a scope if there is one, with the declared ones.
    func comparison<Service: Sendable>(
        _ container: Container, resolving service: Service.Type,
        in scope: @Sendable () -> Registrations = { Registrations {} }
    ) async throws -> GraphComparison {
        await container.startRecording()
        let registrations = scope()
        try await container.withScope("scope", registrations: { registrations }) { scope in
            _ = try await scope.resolve(service)
        }
        return try await container.comparison(with: container.dependencyGraph())
    }

    @Test func `a recorded run is compared with the declared dependencies`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { _ in Font() }.dependencies()
            Registration(Request.self) { _ in Request() }
            Registration(Page.self) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies(Font.self)
            Registration(Session.self, fileID: "App/A.swift", line: 4) { r in
                _ = try await r.resolve(Font.self)
                _ = try await r.resolve(Request.self)
                return Session()
            }
            .dependencies(Request.self, Page.self)
        }
        await container.startRecording()
        _ = try await container.resolve(Session.self)
        let graph = await container.dependencyGraph()
        let comparison = try await container.comparison(with: graph)
        #expect(comparison.undeclared == [.init(from: "ComparisonTests.Session", to: "ComparisonTests.Font")])
        #expect(comparison.unseen == [.init(from: "ComparisonTests.Session", to: "ComparisonTests.Page")])
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        #expect(
            error?.description == """
                validation found 1 problem:
                - undeclaredDependency: ComparisonTests.Session resolved ComparisonTests.Font during the recording, but its registration does not \
                declare it. Path: ComparisonTests.Session (App/A.swift:4) → ComparisonTests.Font (App/A.swift:1). Add .dependencies(ComparisonTests.Font.self) to the \
                registration, or remove the resolve.
                """)
    }

    @Test func `the declared dependencies are a graph too`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(Page.self) { _ in throw TestError() }.dependencies(Font.self)
            Registration(using: Nest.init)
            Registration(Hen.self) { _ in Hen() }
            Registration(using: Egg.init)
        }
        let graph = try await container.declaredGraph()
        #expect(
            graph.nodes == [
                "ComparisonTests.Egg", "ComparisonTests.Font", "ComparisonTests.Hen", "ComparisonTests.Nest",
                "ComparisonTests.Page",
            ])
        #expect(
            graph.edges == [
                .init(from: "ComparisonTests.Egg", to: "ComparisonTests.Hen"),
                .init(from: "ComparisonTests.Nest", to: "ComparisonTests.Egg", isDeferred: true),
                .init(from: "ComparisonTests.Nest", to: "ComparisonTests.Hen", isDeferred: true),
                .init(from: "ComparisonTests.Page", to: "ComparisonTests.Font"),
            ])
    }

    // MARK: Pairs of compared services

    @Test func `a contribution that says nothing is left out, with and without a key`() async throws {
        let container = Container {
            Registration(Font.self) { _ in Font() }
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .intoMany()
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .intoMany(key: "a")
            Registration(Editor.self) { r in
                _ = try await r.resolveMany((any Plugin).self)
                return Editor()
            }
            .dependencies([any Plugin].self)
        }
        #expect(try await comparison(container, resolving: Editor.self).undeclared == [])
        let declaring = Container {
            Registration(Font.self) { _ in Font() }
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .intoMany(key: "a").dependencies()
            Registration(Editor.self) { r in
                _ = try await r.resolveMany((any Plugin).self)
                return Editor()
            }
            .dependencies()
        }
        #expect(
            try await comparison(declaring, resolving: Editor.self).undeclared == [
                .init(from: "ComparisonTests.Editor", to: "[ComparisonTests.Plugin]"),
                .init(from: "ComparisonTests.Plugin[a]", to: "ComparisonTests.Font"),
            ])
    }

    @Test func `the dependencies of a scope's override are not the container's to declare`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .scoped) { _ in Font() }.dependencies()
            Registration(Editor.self) { _ in Editor() }
            Registration(Page.self, lifetime: .scoped) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies(Font.self)
        }
        let comparison = try await comparison(container, resolving: Page.self) {
            Registrations {
                Registration(Font.self, lifetime: .scoped) { r in
                    _ = try await r.resolve(Editor.self)
                    return Font()
                }
            }
        }
        #expect(comparison.undeclared == [])
        #expect(comparison.unseen == [])
    }

    @Test func `an optional dependency that only a scope supplies counts as declared`() async throws {
        let container = Container(name: "app") {
            Registration(Page.self, lifetime: .scoped) { r in
                _ = try await r.resolve(Optional<Font>.self)
                _ = try await r.resolveMany((any Plugin).self)
                return Page()
            }
            .dependencies(Font?.self, [any Plugin]?.self)
        }
        let comparison = try await comparison(container, resolving: Page.self) {
            Registrations {
                Registration(Font.self, lifetime: .scoped) { _ in Font() }
                Registration((any Plugin).self) { _ in Speller() }.intoMany()
            }
        }
        #expect(comparison.undeclared == [])
    }

    @Test func `a container's declaration says nothing about another container's service of that type`() async throws {
        let root = Container(name: "root") {
            Registration(Font.self) { _ in Font() }
            Registration(Page.self) { _ in Page() }.dependencies(Font.self)
            Registration(Session.self, lifetime: .singleton) { _ in Session() }.dependencies(Page.self)
        }
        let child = Container(name: "child", parent: root) {
            Registration(Page.self) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies()
            Registration(Editor.self) { r in
                _ = try await r.resolve(Page.self)
                _ = try await r.resolve(Session.self)
                return Editor()
            }
            .dependencies(Page.self, Session.self)
        }
        #expect(
            try await comparison(child, resolving: Editor.self).undeclared == [
                .init(from: "ComparisonTests.Page", to: "ComparisonTests.Font")
            ])
    }

    @Test func `a provider's arguments come later, and its service is declared`() async throws {
        let container = Container {
            Registration(Font.self) { r in
                _ = try await r.resolve(Provider<Page>.self)(1)
                return Font()
            }
            .dependencies(Provider<Page>.self, Lazy<Request>.self)
            Registration(Page.self) { (_, _: Int) in Page() }
            Registration(Page.self) { (_, _: String) in Page() }
            Registration(Request.self) { (_, _: Int) in Request() }
        }
        let comparison = try await comparison(container, resolving: Font.self)
        #expect(comparison.undeclared == [])
        #expect(
            try await container.declaredGraph().edges == [
                .init(from: "ComparisonTests.Font", to: "ComparisonTests.Page(Int)", isDeferred: true),
                .init(from: "ComparisonTests.Font", to: "ComparisonTests.Page(String)", isDeferred: true),
                .init(from: "ComparisonTests.Font", to: "ComparisonTests.Request(Int)", isDeferred: true),
            ])
    }

    @Test func `a declaration of contributions does not declare the single service`() async throws {
        let container = Container {
            Registration((any Plugin).self) { _ in Speller() }
            Registration((any Plugin).self) { _ in Speller() }.intoMany()
            Registration(Editor.self) { r in
                _ = try await r.resolveMany((any Plugin).self)
                _ = try await r.resolve((any Plugin).self)
                return Editor()
            }
            .dependencies([any Plugin].self)
        }
        let undeclared = try await comparison(container, resolving: Editor.self).undeclared
        #expect(
            undeclared.map(\.from) == ["ComparisonTests.Editor"] && undeclared.first?.to != "[ComparisonTests.Plugin]")
    }

    @Test func `an instance from make need not be declared: it cannot be`() async throws {
        let root = Container { Registration(making: Draft.self) { _ in Draft() } }
        let container = Container(parent: root) {
            Registration(Page.self) { r in
                _ = try await r.make(Draft.self)
                return Page()
            }
            .dependencies()
        }
        #expect(try await comparison(container, resolving: Page.self).undeclared == [])
    }

    @Test func `an inherited or forwarded service cannot declare its decoration's dependencies`() async throws {
        let root = Container(name: "root") {
            Registration(Font.self) { _ in Font() }
            Registration(Page.self) { _ in Page() }.dependencies()
        }
        let child = Container(name: "child", parent: root) {
            Decoration(Page.self) { r, inner in
                _ = try await r.resolve(Font.self)
                return inner
            }
        }
        #expect(try await comparison(child, resolving: Page.self).undeclared == [])
        let forwarding = Container {
            Registration(Font.self) { _ in Font() }
            Registration(Speller.self) { _ in Speller() }.dependencies().implements((any Plugin).self) { $0 }
            Decoration((any Plugin).self) { r, inner in
                _ = try await r.resolve(Font.self)
                return inner
            }
        }
        #expect(try await comparison(forwarding, resolving: (any Plugin).self).undeclared == [])
    }

    @Test func `a dependency that a hook sets is declared as deferred`() async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
                .injectProperties { r, _ in _ = try await r.resolve(Page.self) }.dependencies(Page.self)
            Registration(Page.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies(Font.self)
        }
        try await container.validate()
        let declared = try await container.declaredGraph()
        #expect(
            declared.edges == [
                .init(from: "ComparisonTests.Font", to: "ComparisonTests.Page", isDeferred: true),
                .init(from: "ComparisonTests.Page", to: "ComparisonTests.Font"),
            ])
        #expect(try declared.topologicalOrder() == ["ComparisonTests.Font", "ComparisonTests.Page"])
        let comparison = try await comparison(container, resolving: Page.self)
        #expect(comparison.undeclared == [] && comparison.unseen == [])
        #expect(await container.dependencyGraph().edges == declared.edges)
    }
}
