import AsyncDI
import Testing

@testable import AsyncDITesting

private final class Connection: Sendable {}

/// Two of them are two arguments, although their descriptions are the same.
private struct Tenant: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    var description: String { "a tenant" }
}

/// Notes the names of the containers whose events it receives.
private struct Names: ContainerObserver {
    static let seen = Log<String>()
    func container(_ container: Container, did event: ContainerEvent) { Self.seen.append(container.name ?? "") }
}

@Suite(
    .timeLimit(.minutes(10)),
    .container {
        Registration(Connection.self, lifetime: .singleton) { _ in Connection() }.onDispose { _ in }
    })
struct ChaosRoundTests {
    @Test func `in a round, the test's container and its events are those of the round`() async throws {
        let outer = try Container.test
        let ended = Log<ContainerEvents>()
        try await withChaos(seed: 1, rounds: 2, faults: []) { container in
            #expect(try Container.test === container)
            _ = try await Container.test.resolve(Connection.self)
            #expect(try await container.events.first(.created, of: Connection.self).container == "chaos")
            #expect(throws: TestContainerError.self) { try outer.events }
            ended.append(try Container.test.events)
        }
        #expect(try Container.test === outer)
        #expect(try await outer.events.all().allSatisfy { $0.kind == .registered })
        for events in ended.all {
            _ = try await events.first(.disposed, of: Connection.self)
            await #expect(throws: TestContainerError.self) { try await events.first { $0.kind == .scopeOpened } }
        }
    }

    @Test(arguments: [0, -1])
    func `there is at least one round`(rounds: Int) async throws {
        let count = Locked(0)
        try await withChaos(seed: 1, rounds: rounds, faults: []) { _ in count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 1)
    }

    private struct Stop: Error {}

    @Test func `a round that fails is the last one, however many are left`() async {
        await #expect(throws: (any Error).self) {
            try await withChaos(seed: 1, rounds: .max, faults: []) { _ in throw Stop() }
        }
    }

    @Test func `a round with registrations of its own is the test's container too`() async throws {
        try await Task.detached {
            try await withChaos(seed: 1, rounds: 1, faults: []) {
                Registration(Connection.self, lifetime: .singleton) { _ in Connection() }
            } operation: { container in
                let current = try Container.test
                #expect(current === container)
            }
            #expect(throws: TestContainerError.self) { try Container.test }
        }.value
    }

    @Test(.container(.observer(Names())) {})
    func `the test's observers observe the rounds`() async throws {
        try await withChaos(seed: 1, rounds: 1, faults: []) { _ = try await $0.resolve(Connection.self) }
        #expect(Names.seen.all.contains("chaos"))
    }

    @Test func `a disposal that hangs fails its round even when the container's clock stands still`() async throws {
        let gate = Gate()
        let patience = HeldClock()
        let registrations = Registrations {
            Registration(Connection.self, lifetime: .singleton) { _ in Connection() }.onDispose { _ in
                patience.letGo()
                await gate.wait()
            }
        }
        let round = ChaosRound(
            ChaosPlan(seed: 1, faults: []), registrations, resets: false, defaultLifetime: .graph,
            clock: HeldClock(isBroken: true))
        let error = await #expect(throws: ChaosFailure.self) {
            try await Patience.$clock.withValue(patience) {
                try await round.run(patience: .seconds(1)) { _ = try await $0.resolve(Connection.self) }
            }
        }
        gate.open()
        #expect(error?.problems.first?.contains("its clock") == true)
    }

    @Test func `a round that is cancelled awaits its body, and disposes its container`() async throws {
        let begun = Gate()
        let ends = Log<String>()
        let task = Task {
            try await withChaos(seed: 1, rounds: 2, faults: []) {
                Registration(Connection.self, lifetime: .singleton) { _ in Connection() }.onDispose { _ in
                    ends.append("disposed")
                }
            } operation: { container in
                _ = try await container.resolve(Connection.self)
                begun.open()
                try? await Gate().waitUnlessCancelled()
                for _ in 0..<10 { await Task.yield() }
                ends.append("body")
            }
        }
        await begun.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ends.all == ["body", "disposed"])
    }

    @Test func `a disposal hook that throws by itself has run`() async throws {
        try await withChaos(seed: 1, rounds: 1, faults: []) {
            Registration(Connection.self, lifetime: .singleton) { _ in Connection() }.onDispose { _ in
                throw ChaosError(call: "a part of it")
            }
        } operation: { container in
            _ = try await container.resolve(Connection.self)
        }
    }

    @Test func `decorated, scoped and overridden services are created once each`() async throws {
        try await withChaos(seed: 1, rounds: 20) {
            Registration(Connection.self, lifetime: .singleton) { _ in Connection() }
            Decoration(Connection.self) { _, _ in Connection() }
            Registration(Tenant.self, lifetime: .scoped) { _ in Tenant(number: 1) }
        } operation: { container in
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try? await container.withScope {
                            if number.isMultiple(of: 2) {
                                Registration(Connection.self, lifetime: .weak) { _ in Connection() }
                            }
                        } operation: { scope in
                            for _ in 0..<3 {
                                _ = try? await scope.resolve(Connection.self)
                                _ = try? await scope.resolve(Tenant.self)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func `instances for different arguments are not the same one`() async throws {
        try await withChaos(seed: 1, rounds: 1, faults: []) {
            Registration(Connection.self, lifetime: .singleton) { (_, _: Tenant) in Connection() }
            Registration(Connection.self, lifetime: .singleton) { (_, _: Tenant?) in Connection() }
            Registration(
                Connection.self, qualifier: "keyed", lifetime: .singleton, keyedBy: { (tenant: Tenant) in tenant },
                factory: { _, _ in Connection() })
        } operation: { container in
            for number in 0..<2 {
                let tenant = Tenant(number: number)
                _ = try await container.resolve(Connection.self, arguments: tenant)
                _ = try await container.resolve(Connection.self, arguments: tenant as Tenant?)
                _ = try await container.resolve(Connection.self, qualifier: "keyed", arguments: tenant)
            }
            _ = try await container.resolve(Connection.self, arguments: nil as Tenant?)
        }
    }

    @Test func `a cancellation that no plan has caused fails the round`() async throws {
        let failure = await #expect(throws: ChaosFailure.self) {
            try await withChaos(seed: 1, rounds: 20, faults: [.suspends]) {
                Registration(Int.self, lifetime: .singleton) { _ in throw CancellationError() }
            } operation: { container in
                _ = try await container.resolve(Int.self)
            }
        }
        #expect(failure?.problems.first?.hasPrefix("The body threw what was not planned") == true)
    }

    @Test func `a start that fails because of the plan may throw its failure`() async throws {
        try await withChaos(seed: 1, rounds: 40, faults: [.throwsError, .isCancelled]) {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
        } operation: { container in
            do { try await container.start() } catch { throw container.startFailure ?? error }
        }
    }
}
