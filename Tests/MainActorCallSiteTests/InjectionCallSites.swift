import AsyncDI
import Testing

/// Injection points, and what several services under one type need, in a target of the main actor, with no more
/// annotation than that takes.
@Suite(.timeLimit(.minutes(10)))
struct InjectionCallSites {
    final class Library {
        var title: String
        init(title: String) { self.title = title }
    }

    protocol Exporter: AnyObject, Sendable {
        var name: String { get }
    }

    final class TextExporter: Exporter {
        let name: String
        init(name: String) { self.name = name }
    }

    final class Screen {
        @Inject var library: Library
        @OptionalInject var exporter: (any Exporter)?
        @LazyInject var lazy: Lazy<Library>
        @WeakInject var weak: Library?
    }

    final class Controller: ContainerOwner {
        let container: Container
        @OwnerInject var library: Library
        init(container: Container) { self.container = container }
    }

    nonisolated final class Client: Sendable {
        let library = Injected<Library>()
    }

    struct Menu {
        let exporters: [any Exporter]
        let library: Lazy<Library>
        let provider: Provider<Library>
    }

    struct LibraryModule: Module {
        var registrations: Registrations {
            Registration(Library.self, lifetime: .singleton) { _ in await Library(title: "library") }.eager()
            Registration((any Exporter).self) { _ in await TextExporter(name: "text") }.intoMany()
            Registration(using: Menu.init)
        }

        func loaded(_ resolver: Resolver) async throws {
            let library = try await resolver.resolve(Library.self)
            await MainActor.run { library.title += ", loaded" }
        }
    }

    @Test
    func `property wrappers in types of the main actor`() async throws {
        let container = Container { LibraryModule() }
        try await container.start()
        let screen = Injection.with(container) { Screen() }
        #expect(screen.library.title == "library, loaded")
        #expect(screen.exporter == nil)
        #expect(screen.weak === screen.library)
        #expect(try await screen.lazy() === screen.library)
        let library = try screen.$library()
        #expect(library === screen.library)
        #expect(Controller(container: container).library === library)
        let client = Injection.with(container) { Client() }
        #expect(try client.library() === library)
        try await container.dispose()
    }

    @Test
    func `free functions, contributions, decorations and wrapper types`() async throws {
        let container = Container { LibraryModule() }
        try await container.registerMany((any Exporter).self, key: 1) { _ in await TextExporter(name: "late") }
        try await container.registerMany((any Exporter).self, lifetime: .singleton, key: 2) { _ in
            await TextExporter(name: "first lifetime, then key")
        }
        try await container.registerMany(
            Registration((any Exporter).self) { @MainActor _ in TextExporter(name: "registered") }
                .onCreate { _, exporter in await #expect(exporter.name == "registered") },
            key: 3)
        try await container.decorate(Library.self) { _, inner in
            await Library(title: "decorated \(inner.title)")
        }
        try await container += Registration(Int.self, instance: 1)
        let title = try await Injection.with(container) { () async throws in
            let library: Library = try await resolve()
            return library.title
        }
        #expect(title.hasPrefix("decorated library"))
        let menu = try await container.resolve(Menu.self)
        #expect(menu.exporters.map(\.name) == ["text", "late", "first lifetime, then key", "registered"])
        #expect(try await menu.library() === menu.provider())
        try await container.dispose()
    }
}
