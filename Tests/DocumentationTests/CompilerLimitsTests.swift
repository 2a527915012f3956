import AsyncDI
import Testing

/// The guide "Compiler limits": the forms that compile, run.
@Suite(.timeLimit(.minutes(10)))
struct CompilerLimitsTests {
    @Test func `a factory or hook with a capture list`() async throws {
        struct Report: Sendable {
            let store: Int
            init(_ store: Int) { self.store = store }
        }
        func container(of store: Int) -> Container {
            let store = store
            let registration = Registration(Report.self, lifetime: .transient) { _ in Report(store) }
            return Container { registration }
        }
        let container = container(of: 3)
        #expect(try await container.resolve(Report.self).store == 3)
        try await container.dispose()
    }

    @Test func `closures among parameters`() async throws {
        let container = Container {
            Registration(Label.self, instance: Label(text: "OK"))
            Registration(using: { (label: Label) in Button(label: label, onTap: {}) })
            Registration(Button.self, lifetime: .transient) { (r, onTap: @escaping @Sendable () -> Void) in
                Button(label: try await r.resolve(), onTap: onTap)
            }
        }
        let onTap: @Sendable () -> Void = {}
        #expect(try await container.resolve(Button.self).label.text == "OK")
        #expect(try await container.resolve(Button.self, arguments: onTap).label.text == "OK")
        try await container.dispose()
    }

    @Test func `static methods`() async throws {
        let container = Container { StaticModule() }
        _ = try await container.resolve(Pool.self)
        _ = try await container.resolve(Queue.self)
        try await container.dispose()
    }

    @Test func `typed throws`() async throws {
        let container = Container {
            Registration(Settings.self, instance: Settings(size: 0))
            Registration(Pool.self, lifetime: .multiton) { _, size in try await Pool(size: size) }
            Registration(using: { (settings: Settings) in try await Pool(settings: settings) })
        }
        _ = try await container.resolve(Pool.self, arguments: 1)
        await #expect(throws: PoolError.self) { try await container.resolve(Pool.self, arguments: 0) }
        await #expect(throws: PoolError.self) { try await container.resolve(Pool.self) }
        try await container.dispose()
    }

    @Test func `a factory closure without the service's type`() async throws {
        let container = Container {
            Registration { r in try await makePool(r) }
            Registration(lifetime: .singleton) { Queue() }
            Registration { _, tenant in Client(url: "https://\(tenant).org") }
        }
        try await container.register { _ in Queue() }
        try await container.register(lifetime: .singleton) { Queue() }
        _ = try await container.resolve(Pool.self)
        _ = try await container.resolve(Queue.self)
        await #expect(throws: ResolutionError.self) { try await container.resolve(Client.self, arguments: "acme") }
        try await container.register { (_, tenant: String) in Client(url: "https://\(tenant).org") }
        let client = try await container.resolve(Client.self, arguments: "acme")
        #expect(client.url == "https://acme.org")
        try await container.dispose()
    }

    private func makePool(_ resolver: Resolver) async throws -> Pool { try await Pool(size: 1) }

    struct Client: Sendable {
        let url: String
    }

    @Test func `several arguments`() async throws {
        let container = Container {
            Registration(Table.self) { (_, place: String, seats: Int) in Table(place: place, seats: seats) }
        }
        let table = try await container.resolve(Table.self, arguments: "window", 4)
        #expect(table.seats == 4)
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Table.self, arguments: ("window", 4))
        }
        try Guide("CompilerLimits").shows(error)
        try await container.dispose()
    }

    @MainActor final class Editor {
        let id: Int
        private let onClose: @Sendable () -> Void

        init(_ id: Int, _ onClose: @escaping @Sendable () -> Void) {
            self.id = id
            self.onClose = onClose
        }
    }

    @Test func `an isolated factory whose later arguments are functions`() async throws {
        let container = Container {
            Registration(Editor.self, lifetime: .transient) { (_, id: Int, onClose: @escaping @Sendable () -> Void) in
                await Editor(id, onClose)
            }
        }
        let onClose: @Sendable () -> Void = {}
        let editor = try await container.resolve(Editor.self, arguments: 7, onClose)
        #expect(editor.id == 7)
    }

    struct Label: Sendable {
        let text: String
    }

    struct Button: Sendable {
        let label: Label
        let onTap: @Sendable () -> Void
    }

    struct Queue: Sendable {}

    final class Draft {
        var isSaved = false
    }

    func save(_ draft: Draft, in container: Container, isolation: isolated (any Actor)? = #isolation) async throws {
        try await container.withScope { scope in
            _ = isolation  // the body stays on the caller's actor
            draft.isSaved = true
        }
    }

    @Test func `a body that captures its isolation`() async throws {
        let draft = Draft()
        try await save(draft, in: Container {})
        #expect(draft.isSaved)
    }

    func load<Service: Sendable>(
        _ service: Service.Type, from container: Container, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Service {
        try await container.resolve(service)
    }

    @Test func `a generic function with an isolated parameter`() async throws {
        let container = Container { Registration(instance: 7) }
        let number = try await load(Int.self, from: container)
        #expect(number == 7)
    }

    struct Settings: Sendable {
        let size: Int
    }

    struct PoolError: Error {}

    final class Pool: Sendable {
        init(size: Int) async throws(PoolError) {
            if size == 0 { throw PoolError() }
        }

        convenience init(settings: Settings) async throws(PoolError) { try await self.init(size: settings.size) }
    }

    struct Table: Sendable {
        let place: String
        let seats: Int
    }

    struct StaticModule: Module {
        static func makePool(_ resolver: Resolver) async throws -> Pool { try await Pool(size: 1) }

        nonisolated(nonsending) static func makeQueue(_ resolver: Resolver) async throws -> Queue { Queue() }

        var registrations: Registrations {
            Registration(Pool.self) { r in try await Self.makePool(r) }
            Registration(factory: Self.makeQueue)
        }
    }
}
