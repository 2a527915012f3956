import AsyncDI
import Testing

/// The guide "Lazy, Provider and graphs", run.
@Suite(.timeLimit(.minutes(10)))
struct LazyAndProviderTests {
    @Test func `lazy`() async throws {
        let container = Container {
            Registration(using: Editor.init)
            Registration((any Printer).self, lifetime: .singleton) { _ in try await LaserPrinter.warmUp() }
        }
        let editor = try await container.resolve(Editor.self)  // no printer yet
        let page = try await editor.print("A letter")  // now there is one
        #expect(page == "<A letter>")
        try await container.dispose()
    }

    @Test func `provider`() async throws {
        let container = Container {
            Registration(Handler.self, lifetime: .transient) { (_, message: String) in Handler(message) }
            Registration(using: Dispatcher.init, lifetime: .singleton)
        }
        let answer = try await container.resolve(Dispatcher.self).dispatch("hello")
        #expect(answer == "hello, handled")
        try await container.dispose()
    }

    @Test func `a provider reaches the request at hand`() async throws {
        let container = Container {
            Registration(CurrentUser.self, lifetime: .scoped) { _ in CurrentUser(name: "nobody") }
            Registration(using: AuditLog.init, lifetime: .singleton)
        }
        let note = try await container.withScope("request") {
            Registration(CurrentUser.self, instance: CurrentUser(name: "Ada"))
        } operation: { _ in
            try await container.resolve(AuditLog.self).note("signed in")
        }
        #expect(note == "Ada: signed in")
        #expect(try await container.resolve(AuditLog.self).note("left") == "nobody: left")
        try await container.dispose()
    }

    @Test func `names, arguments and a lazy of one's own`() async throws {
        let container = Container {
            Registration(Handler.self, lifetime: .transient) { (_, message: String) in Handler(message) }
        }
        let lazy = try await container.resolve(Lazy<Handler>.self, arguments: "hello")
        let provider = try await container.resolve(Provider<Handler>.self, arguments: "hello")
        let answers = [try await lazy().run(), try await provider().run(), try await provider("bye").run()]
        #expect(answers == ["hello, handled", "hello, handled", "bye, handled"])

        let handler = Lazy(Handler.self, from: container)
        handler.use(arguments: "hello")
        let first = try await handler()
        handler.release()  // the next call resolves again
        #expect(handler.isEmpty)
        #expect(try await handler() !== first)
        try await container.dispose()
    }

    @Test func `a lazy and a reference back are a cycle of references, a provider is none`() async throws {
        let container = Container {
            Registration(using: { Host(guest: $0, released: $1) }, lifetime: .scoped)
            Registration(using: { Guest(host: $0) }, lifetime: .scoped)
            Registration(using: { FreeHost(guest: $0, released: $1) }, lifetime: .scoped)
            Registration(using: { FreeGuest(host: $0) }, lifetime: .scoped)
            Registration(Gate.self, instance: Gate())
        }
        weak let kept = try await container.withScope { scope in
            let host = try await scope.resolve(Host.self)
            _ = try await host.guest()
            return host
        }
        #expect(kept != nil)
        let released = try await container.resolve(Gate.self)
        kept?.guest.release()
        await released.passed()

        let freed = Gate()
        try await container.withScope {
            Registration(Gate.self, instance: freed)
        } operation: { scope in
            _ = try await scope.resolve(FreeHost.self).guest()
        }
        await freed.passed()
        try await container.dispose()
    }

    final class Host: Sendable {
        let guest: Lazy<Guest>
        private let released: Gate

        init(guest: Lazy<Guest>, released: Gate) { (self.guest, self.released) = (guest, released) }
        deinit { released.open() }
    }

    final class Guest: Sendable {
        let host: Host
        init(host: Host) { self.host = host }
    }

    final class FreeHost: Sendable {
        let guest: Provider<FreeGuest>
        private let released: Gate

        init(guest: Provider<FreeGuest>, released: Gate) { (self.guest, self.released) = (guest, released) }
        deinit { released.open() }
    }

    final class FreeGuest: Sendable {
        let host: FreeHost
        init(host: FreeHost) { self.host = host }
    }

    @Test func `graphs to return to`() async throws {
        let container = Container {
            Registration(Document.self) { _ in Document() }
            Registration(using: Pane.init)
            Registration(using: Toolbar.init)
        }
        let (editor, toolbar) = try await container.withGraph { resolver in
            (try await resolver.resolve(Pane.self), try await resolver.resolve(Toolbar.self))  // on the same Document
        }
        #expect(editor.document === toolbar.document)
        let pane = try await container.resolve(Pane.self)
        let document = try await container.withGraph(pane.graph) { resolver in
            try await resolver.resolve(Document.self)  // the pane's own
        }
        #expect(document === pane.document)
        #expect(document !== editor.document)
        try await container.dispose()
    }

    struct Editor: Sendable {
        let printer: Lazy<any Printer>

        func print(_ text: String) async throws -> String { try await printer().print(text) }
    }

    struct Dispatcher: Sendable {
        let handler: Provider<Handler>

        func dispatch(_ message: String) async throws -> String { try await handler(message).run() }
    }

    struct AuditLog: Sendable {
        let user: Provider<CurrentUser>

        func note(_ event: String) async throws -> String { "\(try await user().name): \(event)" }
    }

    struct Pane: Sendable {
        let document: Document
        let graph: GraphIdentifier
    }

    struct Toolbar: Sendable {
        let document: Document
    }

    final class Document: Sendable {}

    struct CurrentUser: Sendable {
        let name: String
    }

    final class Handler: Sendable {
        private let message: String
        init(_ message: String) { self.message = message }
        func run() -> String { "\(message), handled" }
    }

    protocol Printer: Sendable {
        func print(_ text: String) async throws -> String
    }

    struct LaserPrinter: Printer {
        static func warmUp() async throws -> LaserPrinter { LaserPrinter() }
        func print(_ text: String) -> String { "<\(text)>" }
    }
}
