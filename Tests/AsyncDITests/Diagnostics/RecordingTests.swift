import Testing

@testable import AsyncDI

private struct Font: Sendable {}
private struct Page: Sendable {
    let font: Font
}
private struct Editor: Sendable {}
private final class Egg: Sendable {}
private final class Hen: Sendable {
    init(egg: Egg) {}
}
private protocol Plugin: Sendable {}
private struct Speller: Plugin {}
private struct Counter2: Plugin {}
private struct Later: Sendable {
    let font: Lazy<Font>
    let page: Provider<Page>
}

extension DependencyGraph {
    /// The edges as lines.
    fileprivate var lines: [String] { edges.map { "\($0.from) \($0.isDeferred ? "-.->" : "->") \($0.to)" } }
}

/// The recordings of a container.
@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
    @Test func `a factory's dependency is an edge, in every lifetime, also when it is cached`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(using: Page.init, lifetime: .transient)
            Registration(Editor.self, lifetime: .graph) { r in
                _ = try await r.resolve(Page.self)
                _ = try await r.resolve(Font.self)
                return Editor()
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        _ = try await container.resolve(Editor.self)
        let graph = await container.dependencyGraph()
        #expect(graph.lines == ["Editor -> Font", "Editor -> Page", "Page -> Font"])
        #expect(graph["Editor"]?.creations == 2)
        #expect(graph["Page"]?.creations == 2)
        #expect(graph["Font"]?.creations == 1)
        #expect(graph.details.map(\.lifetime) == ["graph", "singleton", "transient"])
        #expect(graph.details.allSatisfy { $0.owner == "app" })
        #expect(graph["Font"]?.site?.hasPrefix("AsyncDITests/RecordingTests.swift:") == true)
        #expect(try graph.topologicalOrder() == ["Font", "Page", "Editor"])
    }

    @Test func `a captured container, an optional, an argument and another type are edges too`() async throws {
        let container = Container(name: "app")
        try await container.register {
            Registration(Font.self, lifetime: .singleton) { (_, _: Int) in Font() }
            Registration(Speller.self, lifetime: .singleton) { _ in Speller() }.implements((any Plugin).self) { $0 }
            Registration(Editor.self) { [weak container] r in
                _ = try await container?.resolve(Font.self, arguments: 1)
                _ = try await r.resolve(Page?.self)
                _ = try await r.optional((any Plugin).self)
                _ = try await Task.detached { try await r.resolve(Speller.self) }.value
                return Editor()
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        #expect(
            await container.dependencyGraph().lines == [
                "Editor -> Font(Int)", "Editor -> Plugin", "Editor -> Speller", "Plugin -> Speller",
            ])
    }

    @Test func `a request of a lazy wrapper is a deferred edge, and no edge before its call`() async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(using: Page.init)
            Registration(using: Later.init, lifetime: .singleton)
        }
        await container.startRecording()
        let later = try await container.resolve(Later.self)
        #expect(await container.dependencyGraph().lines == [])
        _ = try await later.font()
        _ = try await later.page()
        #expect(
            await container.dependencyGraph().lines == ["Later -.-> Font", "Later -.-> Page", "Page -> Font"])
    }

    @Test func `a provider called while the factory runs is an edge like any other`() async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(Editor.self) { r in
                _ = try await r.resolve(Provider<Font>.self)()
                _ = try await r.resolve(Lazy<Font>.self)()
                return Editor()
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        #expect(await container.dependencyGraph().lines == ["Editor -> Font"])
    }

    @Test(arguments: ["factory", "hook", "parameter"])
    func `a Lazy that is called before its owner is created is no deferred dependency`(place: String) async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            switch place {
            case "factory":
                Registration(Editor.self) { r in
                    _ = try await r.resolve(Lazy<Font>.self)()
                    return Editor()
                }
            case "hook":
                Registration(Editor.self) { _ in Editor() }
                    .onCreate { r, _ in _ = try await r.resolve(Lazy<Font>.self)() }
            default:
                Registration(
                    using: { (font: Lazy<Font>) async throws in
                        _ = try await font()
                        return Editor()
                    })
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        let graph = await container.dependencyGraph()
        #expect(graph.lines == ["Editor -> Font"])
        #expect(try graph.topologicalOrder() == ["Font", "Editor"])
    }

    @Test func `contributions are behind a node for all of them`() async throws {
        let container = Container {
            Registration((any Plugin).self, lifetime: .singleton) { _ in Speller() }.intoMany(key: "spell")
            Registration((any Plugin).self) { _ in Counter2() }.intoMany()
            Registration((any Plugin).self) { _ in Counter2() }.intoMany()
            Registration(Editor.self) { r in
                _ = try await r.resolveMany((any Plugin).self)
                return Editor()
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        let graph = await container.dependencyGraph()
        #expect(
            graph.lines == [
                "Editor -> [Plugin]", "[Plugin] -> Plugin #1", "[Plugin] -> Plugin #2", "[Plugin] -> Plugin[spell]",
            ])
        #expect(graph["[Plugin]"]?.owner == nil && graph["[Plugin]"]?.lifetime == nil)
    }

    @Test func `a thousand scopes are one owner, and a service of two owners has two names`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .scoped) { _ in Font() }
            Registration(Editor.self, lifetime: .singleton) { _ in Editor() }
        }
        await container.startRecording()
        for number in 0..<1000 {
            try await container.withScope("request-\(number)") {
                Registration(using: Page.init, lifetime: .scoped)
                if number == 7 {
                    Registration(Font.self, lifetime: .scoped) { r in
                        _ = try await r.resolve(Editor.self)
                        return Font()
                    }
                }
            } operation: { scope in
                _ = try await scope.resolve(Page.self)
            }
        }
        let graph = await container.dependencyGraph()
        #expect(
            graph.lines == ["Font (scope of app) -> Editor", "Page -> Font (app)", "Page -> Font (scope of app)"])
        #expect(graph["Page"]?.creations == 1000)
        #expect(graph["Page"]?.owner == "scope of app")
        #expect(graph["Font (app)"]?.creations == 999)
        #expect(graph["Font (app)"]?.service == "Font")
    }

    @Test func `durations and failures are measured by the container's clock`() async throws {
        let clock = ManualClock()
        let runs = Counter()
        let container = Container(clock: clock) {
            Registration(Font.self, lifetime: .singleton) { _ in
                clock.advance(by: .seconds(2))
                if runs.increment() == 1 { throw TestError() }
                return Font()
            }
        }
        await container.startRecording()
        await #expect(throws: TestError.self) { try await container.resolve(Font.self) }
        _ = try await container.resolve(Font.self)
        let font = await container.dependencyGraph()["Font"]
        #expect(font?.creations == 1 && font?.failures == 1 && font?.duration == .seconds(4))
    }

    @Test func `recording ends when it is stopped, and begins anew`() async throws {
        let container = Container {
            Registration(Font.self) { _ in Font() }
            Registration(using: Page.init)
        }
        #expect(await container.dependencyGraph() == DependencyGraph())
        _ = try await container.resolve(Page.self)
        #expect(await container.dependencyGraph() == DependencyGraph())
        await container.startRecording()
        _ = try await container.resolve(Page.self)
        await container.stopRecording()
        _ = try await container.resolve(Page.self)
        #expect(await container.dependencyGraph()["Page"]?.creations == 1)
        await container.startRecording()
        #expect(await container.dependencyGraph() == DependencyGraph())
        try await container.dispose()
    }

    @Test func `a factory that never ran has created nothing`() async throws {
        let container = Container { Registration(Font.self, lifetime: .transient) { _ in Font() } }
        await container.startRecording()
        let gate = Gate()
        let task = Task {
            await gate.pass()
            return try await container.resolve(Font.self)
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await (container.dependencyGraph()["Font"]?.creations ?? 0) == 0)
    }

    @Test func `a scope's own recording counts only creations in the scope`() async throws {
        let container = Container(name: "app") {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(using: Page.init, lifetime: .scoped)
        }
        let scope = try await container.openScope("s")
        await scope.startRecording()
        _ = try await scope.resolve(Page.self)
        let graph = await scope.dependencyGraph()
        #expect(graph.lines == ["Page -> Font"])
        #expect(graph["Font"]?.creations == 0, "made in the container above")
        #expect(await container.dependencyGraph() == DependencyGraph())
    }

    @Test(arguments: [Lifetime.graph, .singleton, .scoped, .weak])
    func `the dependency of a property is a deferred edge, so that legal cycles have an order`(
        lifetime: Lifetime
    ) async throws {
        let container = Container {
            Registration(Hen.self, lifetime: lifetime) { r in try await Hen(egg: r.resolve()) }
            Registration(Egg.self, lifetime: lifetime) { _ in Egg() }
                .injectProperties { r, _ in _ = try await r.resolve(Hen.self) }
                .onCreate { r, _ in _ = try await r.resolve(Font.self) }
            Registration(Font.self, lifetime: .transient) { _ in Font() }
                .injectProperties { r, _ in _ = try await r.resolve(Editor.self) }
            Registration(Editor.self) { _ in Editor() }
        }
        await container.startRecording()
        let hen = try await container.resolve(Hen.self)
        let graph = await container.dependencyGraph()
        #expect(graph.lines == ["Egg -.-> Font", "Egg -.-> Hen", "Font -.-> Editor", "Hen -> Egg"])
        #expect(try graph.topologicalOrder() == ["Editor", "Egg", "Font", "Hen"])
        withExtendedLifetime(hen) {}
    }

    @Test(arguments: [Lifetime.graph, .singleton, .scoped, .weak])
    func `every hook of a registration with properties may lead back to it`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Egg.self, lifetime: lifetime) { _ in Egg() }
                .injectProperties { _, _ in }
                .onCreate { r, _ in _ = try await r.resolve(Hen.self) }
            Registration(Hen.self, lifetime: lifetime) { r in try await Hen(egg: r.resolve()) }
        }
        await container.startRecording()
        let egg = try await container.resolve(Egg.self)
        let graph = await container.dependencyGraph()
        #expect(graph.lines == ["Egg -.-> Hen", "Hen -> Egg"])
        #expect(try graph.topologicalOrder() == ["Egg", "Hen"])
        withExtendedLifetime(egg) {}
    }

    @Test func `a provider's requests belong to the service that it was made for, not to its caller`() async throws {
        let container = Container {
            Registration(Font.self, lifetime: .singleton) { _ in Font() }
            Registration(using: Page.init)
            Registration(Plugin2.self) { (_, _: Int) in Plugin2() }
            Registration(using: Later.init, lifetime: .singleton)
            Registration(using: NumberedMaker.init, lifetime: .singleton)
            Registration(Editor.self) { r in
                _ = try await r.resolve(Later.self).page()
                _ = try await r.resolve(NumberedMaker.self).make(1)
                return Editor()
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Editor.self)
        #expect(
            await container.dependencyGraph().lines == [
                "Editor -> Later", "Editor -> NumberedMaker", "Later -.-> Page", "NumberedMaker -.-> Plugin2(Int)",
                "Page -> Font",
            ])
    }
}

private struct Plugin2: Sendable {}
private struct NumberedMaker: Sendable {
    let make: Provider<Plugin2>
}
