import Testing

@testable import AsyncDI

/// Not `Sendable`, and changed by its holder.
private final class Draft {
    var text: String
    init(text: String) { self.text = text }
}

/// Services that need not be `Sendable`.
@Suite(.timeLimit(.minutes(10))) struct MakingTests {
    @Test func `make gives a new instance each time, for the caller to change`() async throws {
        let container = Container { Registration(making: Draft.self) { _ in Draft(text: "empty") } }
        let draft = try await container.make(Draft.self)
        draft.text = "changed"
        let other: Draft = try await container.make()
        #expect(other.text == "empty")
        #expect(draft.text == "changed")
    }

    @Test @MainActor func `an instance from make belongs to the caller's isolation`() async throws {
        let container = Container { Registration(making: Draft.self) { _ in Draft(text: "empty") } }
        let draft = try await container.make(Draft.self)
        draft.text += "!"
        #expect(draft.text == "empty!")
    }

    @Test func `make takes a qualifier and arguments`() async throws {
        let container = Container {
            Registration(making: Draft.self, qualifier: "q") { (_, text: String, count: Int) in
                Draft(text: String(repeating: text, count: count))
            }
            Registration(making: Draft.self) { (_, text: String) in Draft(text: text) }
        }
        #expect(try await container.make(Draft.self, qualifier: "q", arguments: "ab", 2).text == "abab")
        #expect(try await Container(parent: container).make(Draft.self, arguments: "c").text == "c")
    }

    @Test func `a non-Sendable instance is made from dependencies, and inside another factory`() async throws {
        let container = Container {
            Registration(instance: "text")
            Registration(making: Draft.self) { r in Draft(text: try await r.resolve()) }
            Registration(Int.self) { r in try await r.make(Draft.self).text.count }
        }
        #expect(try await container.make(Draft.self).text == "text")
        #expect(try await container.resolve(Int.self) == 4)
    }

    @Test func `the factory's errors and missing dependencies reach the caller of make`() async throws {
        let container = Container {
            Registration(making: Draft.self) { _ in throw TestError(1) }
            Registration(making: Draft.self, qualifier: "q") { r in Draft(text: try await r.resolve()) }
        }
        await #expect(throws: TestError(1)) { _ = try await container.make(Draft.self) }
        await expect(.notRegistered, path: ["Draft[q]", "String"]) {
            _ = try await container.make(Draft.self, qualifier: "q")
        }
    }

    @Test func `the error of a failed make points to a similar registration`() async throws {
        let container = Container {
            Registration(making: Draft.self) { (_, text: String) in Draft(text: text) }
            Registration(Thing.self) { _ in Thing() }
        }
        await expect(.argumentMismatch) { _ = try await container.make(Draft.self) }
        let resolvable = await expect(.notRegistered) { _ = try await container.make(Thing.self) }
        #expect(resolvable?.description.contains("resolve") == true)
    }

    @Test func `the error from resolving a making registration names make`() async throws {
        let container = Container { Registration(making: Thing.self) { _ in Thing() } }
        let error = await expect(.notRegistered) { try await container.resolve(Thing.self) }
        #expect(error?.description.contains("making:") == true)
        #expect(error?.description.contains("make(") == true)
    }

    @Test func `hooks, other types and an early creation of a making registration are refused`() async {
        let making = Registration(making: Thing.self) { _ in Thing() }
        for (registration, problem) in [
            (making.injectProperties { _, _ in }, "has creation hooks"),
            (making.onCreate { _, _ in }, "has creation hooks"),
            (making.implements((any Sendable).self), "is registered with making:, and cannot be resolved"),
            (making.eager(), "is registered with making:, and cannot be resolved"),
        ] {
            let error = await expect(.invalidRegistration) { try await Container().register(registration) }
            #expect(error?.message.contains(problem) == true)
            await expect(.invalidRegistration) { try await Container { registration }.make(Thing.self) }
        }
        let implementing = Container { making.implements((any Sendable).self) }
        await expect(.invalidRegistration) { try await implementing.resolve((any Sendable).self) }
    }

    @Test func `a fallback that is being disposed makes nothing`() async throws {
        let mayEnd = Gate()
        let fallback = Container {
            Registration(making: Thing.self) { _ in Thing() }
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.onDispose { _ in await mayEnd.pass() }
        }
        _ = try await fallback.resolve(Int.self)
        let container = Container(fallbacks: [fallback])
        let disposal = Task { try await fallback.dispose() }
        await mayEnd.arrived()
        await expect(.disposed) { _ = try await container.make(Thing.self) }
        mayEnd.open()
        try await disposal.value
        try await container.dispose()
    }

    @Test func `a closure that makes a non-Sendable instance declares its dependencies`() async throws {
        let opaque = Container { Registration(making: Draft.self) { _ in Draft(text: "") } }
        #expect(try await opaque.validationReport().opaque.count == 1)
        let declared = Container {
            Registration(making: Draft.self) { r in Draft(text: try await r.resolve(String.self)) }
                .dependencies(String.self).dependency(Int.self, qualifier: "count")
            Registration(instance: "")
        }
        let report = try await declared.validationReport()
        #expect(report.opaque.isEmpty)
        #expect(report.problems.map(\.code) == [.notRegistered])
    }

    @Test func `a service that is made is registered`() async throws {
        let container = Container {
            Registration(making: Thing.self) { _ in Thing() }
            Registration(making: Thing.self, qualifier: "numbered") { (_, number: Int) in Thing(number) }
        }
        #expect(await container.isRegistered(Thing.self))
        #expect(await container.isRegistered(Thing.self, qualifier: "numbered", arguments: Int.self))
        #expect(await !container.isRegistered(Thing.self, arguments: Int.self))
        await container.unregister(Thing.self)
        #expect(await !container.isRegistered(Thing.self))
    }
}
