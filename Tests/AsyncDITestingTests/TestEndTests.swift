import AsyncDI
import Testing

@testable import AsyncDITesting

/// A class with identity as equality: an argument and the content of an error.
private final class Token: Hashable, Sendable {
    static func == (first: Token, second: Token) -> Bool { first === second }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private struct Refusal: Error {
    let token: Token
}

/// The end of a test's container, in a test whose clock, hooks or containers are unusual.
@Suite(.timeLimit(.minutes(10)))
struct TestEndTests {
    @Test func `a disposal that does not end is reported with its waits, even by a clock that stands still`()
        async throws
    {
        let gate = Gate()
        let patience = HeldClock()
        let found = try await Patience.$clock.withValue(patience) {
            try await reports(.disposal(within: .seconds(20)), .clock { HeldClock() }) {
                Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                    patience.letGo()
                    await gate.wait()
                }
            } in: {
                _ = try await $0.resolve(Ledger.self)
            }
        }
        gate.open()
        #expect(found.map(\.kind) == [.failedDisposal])
        #expect(found.first?.message.contains("the onDispose of Ledger") == true)
    }

    @Test func `a clock that does not even end a sleep of no time is no reason to hang`() async throws {
        let gate = Gate()
        let patience = HeldClock()
        let found = try await Patience.$clock.withValue(patience) {
            try await reports(.clock { HeldClock(isBroken: true) }) {
                Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                    patience.letGo()
                    await gate.wait()
                }
            } in: {
                _ = try await $0.resolve(Ledger.self)
            }
        }
        gate.open()
        #expect(found.map(\.kind) == [.failedDisposal])
        #expect(found.first?.message.contains("its clock") == true)
    }

    @Test func `a test that is cancelled still waits for its disposal`() async throws {
        let (begun, gate) = (Gate(), Gate())
        let log = Log<TestReport>()
        let task = Task {
            try await withTestContainer(report: { log.append($0) }) {
                Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                    begun.open()
                    await gate.wait()
                }
            } operation: { container in
                _ = try await container.resolve(Ledger.self)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await begun.wait()
        gate.open()
        try await task.value
        #expect(log.all.isEmpty)
    }

    @Test
    func `instances that a container with settings of its own could not dispose are reported, once for each hook`()
        async throws
    {
        let kept = Log<Container>()
        let found = try await reports {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                throw TestError(number: 3)
            }
        } in: { container in
            let child = Container(name: "child", parent: container) {
                Registration(String.self, lifetime: .singleton) { _ in "" }.onDispose { _ in
                    throw TestError(number: 3)
                }
            }
            kept.append(child)
            _ = try await child.resolve(String.self)
            _ = try await child.resolve(Ledger.self)
        }
        #expect(found.map(\.kind) == [.failedDisposal, .failedDisposal])
        #expect(found.allSatisfy { $0.message.contains("TestError(number: 3)") })
        #expect(found.count { $0.message.hasPrefix("The onDispose of Ledger threw") } == 1)
    }

    @Test func `an instance that only the recorded events hold is no leak`() async throws {
        let found = try await reports(.reportingLeaks) {
            Registration(Token.self, lifetime: .transient) { _ in Token() }
            Registration(String.self, lifetime: .multiton) { (_, _: Token) in "" }
            Registration(Int.self, lifetime: .singleton) { r in throw Refusal(token: try await r.resolve()) }
        } in: { container in
            _ = try await container.resolve(String.self, arguments: try await container.resolve(Token.self))
            await #expect(throws: Refusal.self) { try await container.resolve(Int.self) }
        }
        #expect(found.isEmpty)
    }

    @Test func `a decoration among the overrides that applies to nothing is reported`() async throws {
        let log = Log<TestReport>()
        try await withTestContainer(report: { log.append($0) }) {
            Registration(String.self, qualifier: "host", instance: "a")
            Decoration(Int.self) { _, number in number }
        } overrides: {
            Decoration(String.self, qualifier: "hots") { _, text in text + "!" }
            Decoration(String.self, qualifier: "host") { _, text in text + "?" }
        } operation: { container in
            let host = try await container.resolve(String.self, qualifier: "host")
            #expect(host == "a?")
        }
        #expect(log.all.map(\.kind) == [.overrideOfNothing])
        #expect(log.all.first?.message.contains("String[hots]") == true)
    }
}
