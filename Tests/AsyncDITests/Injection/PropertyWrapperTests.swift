import Testing

@testable import AsyncDI

/// Property wrappers and their plain-value forms, in every kind of type that strict concurrency knows.
@Suite(.timeLimit(.minutes(10)))
struct PropertyWrapperTests {
    private func makeContainer() async throws -> Container {
        let container = Container {
            Registration((any Printer).self, lifetime: .singleton) { _ in PaperPrinter("paper") }.eager()
            Registration(Int.self, instance: 42)
            Registration(Thing.self, lifetime: .transient) { _ in Thing(7) }
        }
        try await container.start()
        return container
    }

    // MARK: Places of wrappers

    @Test func `wrappers work in a structure that is sent to other tasks`() async throws {
        let container = try await makeContainer()
        let model = Injection.with(container) { Model() }
        let names = try await Task.detached {
            #expect(model.weak === model.printer)
            #expect(model.missing == nil)
            #expect(model.number == 42)
            return [model.printer.name, "\(try await model.thing().number)"]
        }.value
        #expect(names == ["paper", "7"])
    }

    @Test func `wrappers work in an actor`() async throws {
        let container = try await makeContainer()
        let office = Injection.with(container) { Office() }
        #expect(try await office.describe() == "paper 42 7 true true")
    }

    @Test func `wrappers work in a class of the main actor`() async throws {
        let container = try await makeContainer()
        try await MainActor.run {
            let screen = Injection.with(container) { Screen() }
            #expect(screen.printer.name == "paper")
            #expect(screen.number == 42)
            #expect(screen.missing == nil)
            #expect(screen.weak === screen.printer)
            let printer = try screen.$printer()
            #expect(printer === screen.printer)
        }
        #expect(try await makeScreen(in: container).load() == 7)
    }

    @MainActor private func makeScreen(in container: Container) -> Screen { Injection.with(container) { Screen() } }

    @Test @MainActor func `an owner of the main actor brings its container`() async throws {
        let container = try await makeContainer()
        let window = Window(container: container)
        #expect(window.printer.name == "paper")
        #expect(window.printer === (try await container.resolve((any Printer).self)))
    }

    @Test func `plain values work in a final class that is Sendable`() async throws {
        let container = try await makeContainer()
        let client = Injection.with(container) { Client() }
        let described = try await Task.detached {
            let thing = try await client.thing()
            return "\(try client.printer().name) \(try client.number()) \(thing.number)"
        }.value
        #expect(described == "paper 42 7")
        let mocked = Client(printer: PaperPrinter("mock"))
        #expect(try mocked.printer().name == "mock")
    }

    @Test func `a wrapper keeps to the container that was current when it was made`() async throws {
        let container = try await makeContainer()
        let other = Container { Registration((any Printer).self, instance: PaperPrinter("other")) }
        let model = Injection.with(container) { Model() }
        #expect(Injection.with(other) { model.printer.name } == "paper")
        #expect(try Injection.with(other) { try model.$printer() } === model.printer)
        #expect(Injection.with(other) { Model(printer: Inject(from: container)).printer.name } == "paper")
        #expect(Model(printer: Inject(instance: PaperPrinter("mock"))).printer.name == "mock")
    }

    @Test func `inside withScope wrappers give the request's instances`() async throws {
        let container = try await makeContainer()
        try await container.withScope {
            Registration((any Printer).self, instance: PaperPrinter("request's"))
        } operation: { _ in
            #expect(Model().printer.name == "request's")
            #expect(Model(printer: Inject(from: container)).printer.name == "request's")
        }
    }

    // MARK: Failures can be looked at

    @Test func `a service that is not ready is an error with advice to make it eager`() async throws {
        let container = Container {
            Registration((any Printer).self, lifetime: .singleton) { _ in PaperPrinter("late") }
            Registration(Double.self, lifetime: .singleton) { _ in 1 }
        }
        let model = Injection.with(container) { Model() }
        let error = await expect(.notReady) { try model.$printer() }
        #expect(error?.description.contains("Make it .eager() and await start()") == true)
        await expect(.notReady) { try model.$missing() }
        _ = try await container.resolve((any Printer).self)
        #expect(try model.$printer() === model.printer)
    }

    @Test func `an unregistered service is an error, and nil for the optional wrapper`() async throws {
        let model = Injection.with(Container()) { Model() }
        await expect(.notRegistered) { try model.$printer() }
        await expect(.notRegistered) { try model.$missing() }
        await expect(.notRegistered) { try await model.thing() }
        await expect(.notRegistered) { try model.$weak() }
        #expect(model.missing == nil)
        #expect(model.weak == nil)
        let client = Injection.with(Container()) { Client() }
        await expect(.notRegistered) { try client.printer() }
    }

    #if os(macOS) || os(Linux)
        @Test func `reading an unregistered service ends the process, and names the service`() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Injection.with(Container()) { Model() }.printer
            }
            let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(message.contains("@Inject") && message.contains("notRegistered") && message.contains("Printer"))
            // It could not resolve the service either.
            #expect(!message.contains("@LazyInject"))
        }

        @Test func `an optional service that is registered but not ready ends the process, for nil would hide it`()
            async throws
        {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let container = Container { Registration(Double.self, lifetime: .singleton) { _ in 1 } }
                _ = Injection.with(container) { Model() }.missing
            }
            let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(message.contains("@OptionalInject") && message.contains(".eager()") && message.contains("start()"))
            #expect(message.contains("@LazyInject"))
        }
    #endif

    @Test(arguments: [true, false])
    func `an optional property is nil after the end of its container`(isRegistered: Bool) async throws {
        let container = Container { if isRegistered { Registration(Double.self, instance: 1) } }
        let optional = OptionalInject<Double>(from: container)
        #expect(optional.wrappedValue == (isRegistered ? 1 : nil))
        try await container.dispose()
        #expect(optional.wrappedValue == nil)
    }

    @Test func `a weak property is nil after a reset, and then the new instance`() async throws {
        let container = Container {
            Registration((any Printer).self, lifetime: .singleton) { _ in PaperPrinter("one") }
        }
        let weak = WeakInject<any Printer>(from: container)
        let first = try await container.resolve((any Printer).self)
        #expect(weak.wrappedValue === first)
        try await container.reset(.singleton)
        #expect(weak.wrappedValue == nil)
        let second = try await container.resolve((any Printer).self)
        #expect(second !== first && weak.wrappedValue === second)
        try await container.register((any Printer).self, lifetime: .singleton) { _ in PaperPrinter("two") }
        #expect(weak.wrappedValue == nil)
        let third = try await container.resolve((any Printer).self)
        #expect(weak.wrappedValue === third)
        try await container.dispose()
        #expect(weak.wrappedValue == nil)
        withExtendedLifetime((first, second, third)) {}
    }
}

private protocol Printer: AnyObject, Sendable {
    var name: String { get }
}

private final class PaperPrinter: Printer {
    let name: String
    init(_ name: String) { self.name = name }
}

private struct Model: Sendable {
    @Inject var printer: any Printer
    @Inject var number: Int
    @OptionalInject var missing: Double?
    @LazyInject var thing: Lazy<Thing>
    @WeakInject var weak: (any Printer)?

    init() {}
    init(printer: Inject<any Printer>) { _printer = printer }
}

private actor Office {
    @Inject var printer: any Printer
    @Inject var number: Int
    @OptionalInject var missing: Double?
    @LazyInject var thing: Lazy<Thing>
    @WeakInject var weak: (any Printer)?

    func describe() async throws -> String {
        let thing = try await thing().number
        return "\(printer.name) \(number) \(thing) \(missing == nil) \(weak === printer)"
    }
}

@MainActor
private final class Screen {
    @Inject var printer: any Printer
    @Inject var number: Int
    @OptionalInject var missing: Double?
    @LazyInject var thing: Lazy<Thing>
    @WeakInject var weak: (any Printer)?

    func load() async throws -> Int { try await thing().number }
}

@MainActor
private final class Window: ContainerOwner {
    nonisolated let container: Container
    @OwnerInject var printer: any Printer

    init(container: Container) { self.container = container }
}

private final class Client: Sendable {
    let printer: Injected<any Printer>
    let number = Injected<Int>()
    let thing = Lazy<Thing>()

    init() { printer = Injected() }
    init(printer: any Printer) { self.printer = Injected(instance: printer) }
}
