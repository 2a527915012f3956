import Testing

@testable import AsyncDI

private enum Env: String, Qualifier {
    case a
    var description: String { rawValue }
}

/// Registrations that read the same.
extension ComparisonTests {
    /// The edges that are resolved in a recording, but not declared.
    private func undeclared(
        _ container: Container, by requests: (Container) async throws -> Void
    ) async throws -> [DependencyGraph.Edge] {
        await container.startRecording()
        try await requests(container)
        return try await container.comparison(with: container.dependencyGraph()).undeclared
    }

    @Test func `of two contributions without a key, each has its own declarations`() async throws {
        let container = Container {
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .dependencies(Font.self).intoMany()
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .dependencies().intoMany()
            Registration(Font.self) { _ in Font() }.dependencies()
        }
        let edges = try await undeclared(container) { _ = try await $0.resolveMany((any Plugin).self) }
        #expect(edges.map(\.to) == ["ComparisonTests.Font"])
    }

    @Test func `a contribution that declares nothing does not hide the service itself`() async throws {
        let container = Container {
            Registration((any Plugin).self) { _ in Speller() }.intoMany()
            Registration((any Plugin).self) { r in
                _ = try await r.resolve(Font.self)
                return Speller()
            }
            .dependencies()
            Registration(Font.self) { _ in Font() }.dependencies()
        }
        let edges = try await undeclared(container) { container in
            _ = try await container.resolveMany((any Plugin).self)
            _ = try await container.resolve((any Plugin).self)
        }
        #expect(edges.map(\.to) == ["ComparisonTests.Font"])
    }

    @Test func `qualifiers that read the same have their own declarations`() async throws {
        let container = Container {
            Registration(Page.self, qualifier: Env.a) { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies(Font.self)
            Registration(Page.self, qualifier: "a") { r in
                _ = try await r.resolve(Font.self)
                return Page()
            }
            .dependencies()
            Registration(Session.self) { r in
                _ = try await r.resolve(Page.self, qualifier: "a")
                return Session()
            }
            .dependency(Page.self, qualifier: Env.a)
            Registration(Font.self) { _ in Font() }.dependencies()
        }
        let edges = try await undeclared(container) { container in
            _ = try await container.resolve(Page.self, qualifier: Env.a)
            _ = try await container.resolve(Session.self)
        }
        #expect(
            edges == [
                .init(from: "ComparisonTests.Page[a] #2", to: "ComparisonTests.Font"),
                .init(from: "ComparisonTests.Session", to: "ComparisonTests.Page[a] #2"),
            ])
    }

    @Test func `the advice is about the service, and not about the contribution under its qualifier`() async throws {
        let container = Container {
            Registration((any Plugin).self, qualifier: "csv", fileID: "App/A.swift", line: 30) { _ in Speller() }
                .dependencies()
            Registration((any Plugin).self, fileID: "App/A.swift", line: 31) { _ in Speller() }
                .dependencies().intoMany(key: "csv")
            Registration(Editor.self) { r in
                _ = try await r.resolve((any Plugin).self, qualifier: "csv")
                return Editor()
            }
            .dependencies()
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        _ = try await container.resolveMany((any Plugin).self)
        let graph = await container.dependencyGraph()
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        let text = try #require(error).description
        #expect(text.contains("(App/A.swift:30)"))
        #expect(text.contains(".dependency((any ComparisonTests.Plugin).self, qualifier: \"csv\")"), "\(text)")
    }
}
