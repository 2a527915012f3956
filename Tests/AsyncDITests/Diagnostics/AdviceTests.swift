import Testing

@testable import AsyncDI

private final class Opened: Sendable {}
private final class User: Sendable {
    let opened: Opened
    init(opened: Opened) { self.opened = opened }
}

/// Advice that leads to a solution when it is followed.
@Suite(.timeLimit(.minutes(10))) struct AdviceTests {
    private func advice(_ code: ResolutionError.Code, _ operation: () async throws -> Void) async -> String {
        await expect(code, operation)?.advice ?? ""
    }

    @Test func `a cycle with a transient service is to be broken in a shared one`() async throws {
        let container = Container {
            Registration(Opened.self, lifetime: .transient) { r in
                _ = try await r.resolve(User.self)
                return Opened()
            }
            Registration(using: User.init, lifetime: .singleton)
        }
        let advice = await advice(.circularDependency) { _ = try await container.resolve(User.self) }
        #expect(advice.hasPrefix("Break the cycle: set the dependency of User in .injectProperties, or"))
    }

    @Test func `a hook that needs the successor of its own instance must not request it`() async throws {
        let (holder, advices) = (Locked<Container?>(nil), Log<String>())
        let container = Container {
            Registration(Opened.self, lifetime: .multiton) { (_, _: Int) in Opened() }
                .onDispose { _ in
                    guard let container = holder.value else { return }
                    let direct = await advice(.circularDependency) {
                        _ = try await container.resolve(Opened.self, arguments: 1)
                    }
                    let indirect = await advice(.circularDependency) { _ = try await container.resolve(User.self) }
                    for text in [direct, indirect] { advices.append(text) }
                }
            Registration(User.self, lifetime: .singleton) { r in
                User(opened: try await r.resolve(Opened.self, arguments: 1))
            }
        }
        holder.value = container
        _ = try await container.resolve(Opened.self, arguments: 1)
        try await finishes { try await container.reset(Opened.self) }
        let right = "Break the cycle: let onDispose of Opened(Int) request nothing that waits for its own end."
        #expect(advices.entries == [right, right])
        holder.value = nil
        try await container.dispose()
    }

    @Test func `a service that requests itself may be meant as a decoration`() async throws {
        let above = Container { Registration(Opened.self, lifetime: .scoped) { _ in Opened() } }
        let container = Container(parent: above) {
            Registration(Opened.self, lifetime: .scoped) { r in try await r.resolve(Opened.self) }
        }
        let advice = await advice(.circularDependency) { _ = try await container.resolve(Opened.self) }
        #expect(advice.hasSuffix("To wrap a registration of an outer container, decorate it."))
    }

    @Test func `a parameter that needs arguments is to be given a source`() async throws {
        let container = Container {
            Registration(Opened.self, lifetime: .multiton) { (_, _: Int) in Opened() }
            Registration(using: User.init)
        }
        let given = await advice(.argumentMismatch) { _ = try await container.resolve(User.self) }
        #expect(given == "Give the parameter a source in with:, or register a factory that passes the arguments.")
        try await container.register(User.self, qualifier: "right") { r in
            User(opened: try await r.resolve(Opened.self, arguments: 1))
        }
        _ = try await container.resolve(User.self, qualifier: "right")
    }

    @Test func `an eager service of a scope is ready after the start of the scope`() async throws {
        let container = Container { Registration(Opened.self, lifetime: .scoped) { _ in Opened() }.eager() }
        try await container.start()
        let scope = try await container.openScope("session")
        let advice = await advice(.notReady) { _ = try scope.ready(Opened.self) }
        #expect(advice.hasPrefix("Make it .eager() and await start() of container \"session\", resolve it first"))
        try await scope.start()
        _ = try scope.ready(Opened.self)
        try await container.dispose()
    }

    @Test func `a scope's singleton that needs a value of the scopes inside is to be scoped`() async throws {
        let container = Container { Registration(expected: Int.self) }
        let session = try await container.openScope("session") {
            Registration(String.self, lifetime: .singleton) { r in "\(try await r.resolve(Int.self))" }
        }
        try await session.withScope {
            Registration(instance: 7)
        } operation: { request in
            let advice = await advice(.notRegistered) { _ = try await request.resolve(String.self) }
            #expect(
                advice.hasSuffix("If a scope inside supplies it: String is singleton here, so register it as .scoped."))
        }
        try await container.dispose()
    }

    @Test func `a decoration of what no decoration applies to says so`() async throws {
        let container = Container {
            Registration(making: Opened.self) { _ in Opened() }
            Registration(String.self) { _ in "" }.intoMany()
            Decoration(Opened.self) { _, opened in opened }
            Decoration(String.self) { _, text in text }
        }
        let problems = try await container.validationReport().problems
        #expect(problems.map(\.code) == [.invalidRegistration, .invalidRegistration])
        #expect(problems.allSatisfy { $0.message.contains("to which no decoration applies") })
    }

    @Test func `what make returns belongs to its caller`() async throws {
        let hook = Registration(making: Opened.self) { _ in Opened() }.onDispose { _ in }
        let check = Registration(making: Opened.self) { _ in Opened() }.healthCheck { _ in }
        for registration in [hook, check] {
            let error = await expect(.invalidRegistration) { try await Container().register(registration) }
            #expect(error?.message.hasSuffix("but each instance belongs to the caller of make.") == true)
        }
    }

    @Test(arguments: [true, false])
    func `only the deadline of a drain is to be longer`(hasDeadline: Bool) async throws {
        let advice = Locked("")
        let mayEnd = Gate()
        let container = Container(name: "drained") {
            Registration(Opened.self, lifetime: .scoped) { _ in Opened() }
                .onDispose { _, reason in
                    advice.withLock { $0 = (reason.error as? ResolutionError)?.advice ?? "" }
                }
        }
        let body = Task {
            try await container.withScope { scope in
                _ = try await scope.resolve(Opened.self)
                await mayEnd.pass()
            }
        }
        await mayEnd.arrived()
        let drain = Task { try? await container.drain(deadline: hasDeadline ? .zero : nil) }
        await until { container.core.table.isDraining }
        if !hasDeadline { try await container.dispose() }
        await until { advice.withLock { !$0.isEmpty } }
        #expect(advice.withLock { $0.hasPrefix(hasDeadline ? "Give the drain more time" : "Let work end first") })
        mayEnd.open()
        await expect(.disposed) { try await body.value }
        await drain.value
    }
}
