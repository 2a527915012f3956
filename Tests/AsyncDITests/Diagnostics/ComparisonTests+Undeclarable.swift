import Testing

@testable import AsyncDI

/// Services with any arguments, and those that cannot be declared.
extension ComparisonTests {
    // MARK: With any arguments

    /// The undeclared dependencies when a provider resolves a page after the factory.
    private func undeclared(
        of container: Container, in scope: @Sendable () -> Registrations = { Registrations {} },
        calling call: @Sendable (Provider<Page>) async throws -> Page
    ) async throws -> [DependencyGraph.Edge] {
        await container.startRecording()
        let registrations = scope()
        try await container.withScope("scope", registrations: { registrations }) { scope in
            _ = try await call(scope.resolve(PageMaker.self).page)
        }
        let graph = await container.dependencyGraph()
        #expect(graph.edges.map(\.from) == ["ComparisonTests.PageMaker"])
        return try await container.comparison(with: graph).undeclared
    }

    @Test func `a provider declares a service with any arguments, beside the plain one`() async throws {
        let container = Container {
            Registration(Page.self) { _ in Page() }
            Registration(Page.self) { (_, _: String) in Page() }
            Registration(using: PageMaker.init)
        }
        #expect(try await undeclared(of: container) { try await $0("x") } == [])
        #expect(
            try await container.declaredGraph().edges == [
                .init(from: "ComparisonTests.PageMaker", to: "ComparisonTests.Page", isDeferred: true),
                .init(from: "ComparisonTests.PageMaker", to: "ComparisonTests.Page(String)", isDeferred: true),
            ])
    }

    @Test func `a provider declares a service that only a scope registers, with any arguments`() async throws {
        func container() -> Container {
            Container {
                Registration(Page.self) { (_, _: String) in Page() }
                Registration(using: PageMaker.init, lifetime: .scoped)
            }
        }
        let withArguments = try await undeclared(of: container()) {
            Registrations { Registration(Page.self) { (_, _: Int) in Page() } }
        } calling: {
            try await $0(1)
        }
        #expect(withArguments == [])
        let plain = try await undeclared(of: container()) {
            Registrations { Registration(Page.self) { _ in Page() } }
        } calling: {
            try await $0()
        }
        #expect(plain == [])
    }

    // MARK: Dependencies that cannot be declared

    @Test func `an instance of a scope's making registration need not be declared`() async throws {
        let container = Container {
            Registration(Page.self, lifetime: .scoped) { r in
                _ = try await r.make(Draft.self)
                return Page()
            }
            .dependencies()
        }
        let comparison = try await comparison(container, resolving: Page.self) {
            Registrations { Registration(making: Draft.self) { _ in Draft() } }
        }
        #expect(comparison.undeclared == [])
    }

    @Test func `a service that is both made and resolved must be declared where it is resolved`() async throws {
        let container = Container(name: "app") {
            Registration(making: Font.self, fileID: "App/A.swift", line: 1) { _ in Font() }
            Registration(Font.self, fileID: "App/A.swift", line: 2) { _ in Font() }
            Registration(Page.self) { r in
                _ = try await r.make(Font.self)
                return Page()
            }
            .dependencies()
            Registration(Editor.self, fileID: "App/A.swift", line: 3) { r in
                _ = try await r.resolve(Page.self)
                _ = try await r.resolve(Font.self)
                return Editor()
            }
            .dependencies(Page.self)
        }
        #expect(
            try await comparison(container, resolving: Editor.self).undeclared == [
                .init(from: "ComparisonTests.Editor", to: "ComparisonTests.Font #2")
            ]
        )
        let graph = await container.dependencyGraph()
        #expect(graph["ComparisonTests.Font #1"]?.lifetime == "making")
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        #expect(
            error?.description.contains(
                "Path: ComparisonTests.Editor (App/A.swift:3) → ComparisonTests.Font (App/A.swift:2).") == true)
    }

    @Test func `a decoration's dependency is not the decorated registration's to declare`() async throws {
        let container = Container {
            Registration(Font.self) { _ in Font() }
            Registration(Page.self) { _ in Page() }.dependencies()
            Decoration(Page.self) { r, inner in
                _ = try await r.resolve(Font.self)
                return inner
            }
        }
        #expect(try await comparison(container, resolving: Page.self).undeclared == [])
        #expect(try await container.validationReport().opaque.map(\.key.description) == ["ComparisonTests.Font"])
    }

    @Test func `registrations above are compared, although nothing here leads to them`() async throws {
        let root = Container(name: "root") {
            Registration(Font.self) { _ in Font() }
            Registration(Request.self) { _ in Request() }
            Registration(Page.self) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies(Request.self)
        }
        let child = Container(name: "child", parent: root)
        let comparison = try await comparison(child, resolving: Page.self)
        #expect(comparison.undeclared == [.init(from: "ComparisonTests.Page", to: "ComparisonTests.Font")])
        #expect(comparison.unseen == [.init(from: "ComparisonTests.Page", to: "ComparisonTests.Request")])
        #expect(try await child.declaredGraph().nodes == [])
    }

    @Test func `a disposed container is not compared`() async throws {
        let container = Container { Registration(Font.self) { _ in Font() } }
        try await container.dispose()
        await expect(.disposed) { try await container.comparison(with: DependencyGraph()) }
    }
}
