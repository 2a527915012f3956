import AsyncDI
import Testing

/// The guide "Errors": it has a section for each code, and shows what each error says.
@Suite(.timeLimit(.minutes(10)))
struct ErrorsGuideTests {
    private let guide: Guide

    init() throws { guide = try Guide("Errors") }

    @Test func `every code has a section`() throws {
        let source = try Documents.text(of: "Sources/AsyncDI/Resolution/ResolutionError.swift")
        let codes = source.matches(of: /static let (\w+) = Code\("(\w+)"\)/)
        let page = try Documents.text(of: "Sources/AsyncDI/AsyncDI.docc/Guides/Errors.md")
        #expect(codes.count > 10)
        for code in codes { #expect(page.contains("\n## \(code.1)\n"), "Errors.md has no section called \(code.1)") }
    }

    @Test func `a service is missing, or was requested with other arguments`() async throws {
        let container = Container(name: "app") {
            Registration(Mailer.self, lifetime: .singleton) { r in Mailer(clock: try await r.resolve()) }
            Registration(Room.self, lifetime: .multiton) { (_, number: Int) in Room(number: number) }
        }
        await shows(.notRegistered) { _ = try await container.resolve(Mailer.self) }
        await shows(.argumentMismatch) { _ = try await container.resolve(Room.self, arguments: "7") }
    }

    @Test func `services depend on each other, or on shorter-lived ones`() async throws {
        let container = Container(name: "app") {
            Registration(Kitchen.self, lifetime: .singleton) { r in try await Kitchen(waiter: r.resolve()) }
            Registration(Waiter.self, lifetime: .singleton) { r in try await Waiter(kitchen: r.resolve()) }
            Registration(CurrentUser.self, lifetime: .scoped) { _ in CurrentUser() }
            Registration(AuditLog.self, lifetime: .singleton) { r in AuditLog(user: try await r.resolve()) }
        }
        await shows(.circularDependency) { _ = try await container.resolve(Kitchen.self) }
        await shows(.captiveDependency) { _ = try await container.resolve(AuditLog.self) }
    }

    @Test func `a registration is refused`() async throws {
        let strict = Container(name: "app", onDuplicate: .reject) {
            Registration(Clock.self) { _ in Clock() }
            Registration(Clock.self) { _ in Clock() }
        }
        await shows(.duplicateRegistration) { _ = try await strict.resolve(Clock.self) }
        let container = Container(name: "app") {
            Registration(Clock.self, lifetime: .transient) { _ in Clock() }.onDispose { _ in }
            Registration(Room.self) { _ in Room(number: 1) }.implements((any Printable).self)
        }
        await shows(.invalidRegistration) { _ = try await container.resolve(Clock.self) }
        await shows(.typeMismatch) { _ = try await container.resolve((any Printable).self) }
    }

    @Test func `a container is not there, or not any more, or not ready`() async throws {
        let container = Container(name: "app") { Registration(Clock.self, lifetime: .singleton) { _ in Clock() } }
        await shows(.notReady) { _ = try container.ready(Clock.self) }
        try await container.dispose()
        await shows(.disposed) { _ = try await container.resolve(Clock.self) }
        // Other suites may have set the default container, so this one's parts are looked up in the source.
        let source = try Documents.text(of: "Sources/AsyncDI/Injection/Injection.swift")
        for part in [
            "was requested without a current or a default container.",
            "Set Injection.default at start-up, or run the code inside withScope or Injection.with(container).",
        ] {
            #expect(source.contains(part))
            #expect(guide.contains(part))
        }
    }

    @Test func `a factory cancels itself, or cannot be found again, or disposes its container`() async throws {
        let container = Container(name: "app") {
            Registration(Clock.self, lifetime: .singleton) { _ in throw CancellationError() }
            Registration(Room.self, lifetime: .multiton) { (_, _: Double) in Room(number: 1) }
        }
        try await container.register(Mailer.self, lifetime: .singleton) { _ in
            try await container.dispose()
            return Mailer(clock: Clock())
        }
        await shows(.creationCancelled) { _ = try await container.resolve(Clock.self) }
        await shows(.invalidArgument) { _ = try await container.resolve(Room.self, arguments: Double.nan) }
        await shows(.invalidOperation) { _ = try await container.resolve(Mailer.self) }
    }

    @Test func `a recording saw a dependency that is not declared`() async throws {
        let container = Container(name: "app") {
            Registration(Clock.self, lifetime: .singleton) { _ in Clock() }
            Registration(Mailer.self, lifetime: .singleton) { r in Mailer(clock: try await r.resolve()) }.dependencies()
        }
        await container.startRecording()
        _ = try await container.resolve(Mailer.self)
        let graph = await container.dependencyGraph()
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.code == .undeclaredDependency)
        guide.shows(error?.problems.first)
    }

    @Test func `a disposal does not end in time`() async throws {
        let gate = Gate()
        let container = Container(name: "app") {
            Registration(Clock.self, lifetime: .singleton) { _ in Clock() }.onDispose { _ in await gate.passed() }
        }
        _ = try await container.resolve(Clock.self)
        let error = await #expect(throws: DisposalError.self) { try await container.dispose(deadline: .zero) }
        let timeOut = error?.errors.first as? ResolutionError
        #expect(timeOut?.code == .disposalTimedOut)
        guide.shows(timeOut)
        gate.open()
    }

    private func shows(
        _ code: ResolutionError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: ResolutionError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        guide.shows(error, sourceLocation: sourceLocation)
    }

    protocol Printable: Sendable {}

    struct Clock: Sendable {}

    struct Mailer: Sendable {
        let clock: Clock
    }

    struct Room: Sendable {
        let number: Int
    }

    final class Kitchen: Sendable {
        let waiter: Waiter
        init(waiter: Waiter) { self.waiter = waiter }
    }

    final class Waiter: Sendable {
        let kitchen: Kitchen
        init(kitchen: Kitchen) { self.kitchen = kitchen }
    }

    struct CurrentUser: Sendable {}

    struct AuditLog: Sendable {
        let user: CurrentUser
    }
}
