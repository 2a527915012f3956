import Testing

@testable import AsyncDI

private protocol Store: Sendable {}
private final class Disk: Store {}
private struct Logged: Store {
    let inner: any Store
}
private final class Report: Sendable {
    let store: any Store
    init(_ store: any Store) { self.store = store }
}

/// A start that fails, beside requests that use what it has created.
@Suite(.timeLimit(.minutes(10))) struct FailedStartTests {
    /// Fails at the first attempt, when the gate opens.
    private func failing(_ mayFail: Gate, _ attempts: Counter) -> Registration<Int> {
        Registration(Int.self, lifetime: .singleton) { _ in
            await mayFail.pass()
            if attempts.increment() == 1 { throw TestError(1) }
            return 1
        }
        .eager()
    }

    /// The part of a request that leases an instance which the start has created.
    enum Lessee: CaseIterable {
        case instance, instanceOfScope, decoration, decorationInChild, instanceWithDecoration, body
    }

    @Test(arguments: Lessee.allCases, [Lifetime.multiton, Lifetime("stored") { StrongStorage() }])
    func `instances of a failed start stay if a request leases one of them`(
        _ lessee: Lessee, _ lifetime: Lifetime
    ) async throws {
        try await finishes {
            let (mayFail, attempts, made, closed) = (Gate(), Counter(), Counter(), Counter())
            let long = lifetime == .multiton ? .singleton : lifetime
            let decoration = Decoration((any Store).self) { _, inner in Logged(inner: inner) }
            let container = Container {
                Registration(Disk.self, lifetime: lifetime) { (_, _: Int) in
                    made.increment()
                    return Disk()
                }
                .onDispose { _ in closed.increment() }
                .implements((any Store).self) { $0 }
                if lessee == .decoration || lessee == .instanceWithDecoration { decoration }
                Registration(String.self, lifetime: long) { r in
                    _ = try await r.resolve(Disk.self, arguments: 1)
                    _ = try await r.resolve(Disk.self, arguments: 2)
                    return ""
                }
                .eager()
                Registration(Report.self, lifetime: lessee == .instanceOfScope ? .scoped : long) { r in
                    Report(try await r.lease((any Store).self, arguments: 1))
                }
                failing(mayFail, attempts)
            }
            let child = Container(parent: container) { if lessee == .decorationInChild { decoration } }
            let start = Task { try await container.start() }
            await mayFail.arrived()
            // The start has created all that it can: only the failing creation is left.
            await until { made.value == 2 && container.core.withState { state in state.flights.all.count == 1 } }
            @Sendable func failStart() async throws {
                mayFail.open()
                await #expect(throws: TestError(1)) { try await start.value }
                #expect(closed.value == 0, "the leased instance may hold any of them")
                try await container.start()
            }
            let store: any Store
            switch lessee {
            case .body:
                store = try await container.withInstance(Disk.self, arguments: 1) { disk in
                    try await failStart()
                    return disk
                }
            case .decoration, .decorationInChild:
                store = try await child.resolve((any Store).self, arguments: 1)
                try await failStart()
            case .instance, .instanceOfScope, .instanceWithDecoration:
                store = try await child.resolve(Report.self).store
                try await failStart()
            }
            let disk = (store as? Logged)?.inner ?? store
            #expect(try await container.resolve(Disk.self, arguments: 1) === disk as? Disk)
            try await child.dispose()
            try await container.dispose()
            #expect(made.value == 2 && closed.value == 2)
        }
    }

    /// Services of which one fails while another one's factory, which leases a third, waits for the gate.
    private func failing(beside mayEnd: Gate, _ closed: Counter, noticesCancellation: Bool) -> Registrations {
        Registrations {
            Registration(Disk.self, lifetime: .singleton) { _ in Disk() }.onDispose { _ in closed.increment() }
            Registration(Report.self, lifetime: .singleton) { r in
                let disk = try await r.lease(Disk.self)
                await mayEnd.pass()
                if noticesCancellation { try Task.checkCancellation() }
                return Report(disk)
            }
            .eager()
            Registration(Int.self, lifetime: .singleton) { _ in
                await mayEnd.arrived()
                throw TestError(1)
            }
            .eager()
        }
    }

    @Test func `a failed start waits for the creations that it has cancelled`() async throws {
        try await finishes {
            let (mayEnd, closed) = (Gate(), Counter())
            let container = Container { failing(beside: mayEnd, closed, noticesCancellation: true) }
            let start = Task { try await container.start() }
            // The cancelled creation goes on for a while.
            await until {
                container.core.withState { state in state.flights.entries.values.map(\.isWindingDown) == [true] }
            }
            mayEnd.open()
            await #expect(throws: TestError(1)) { try await start.value }
            #expect(closed.value == 1)
            try await container.dispose()
        }
    }

    @Test func `a failed start waits a second at most for a factory that ignores its cancellation`() async throws {
        try await finishes {
            let (clock, mayEnd, closed) = (ManualClock(), Gate(), Counter())
            let container = Container(clock: clock) { failing(beside: mayEnd, closed, noticesCancellation: false) }
            let start = Task { try await container.start() }
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(1))
            await #expect(throws: TestError(1)) { try await start.value }
            #expect(closed.value == 0, "the factory that goes on leases the instance")
            mayEnd.open()
            try await container.dispose()
            #expect(closed.value == 1)
        }
    }

    @Test func `a leased instance without hooks stays in its storage when the start fails`() async throws {
        try await finishes {
            let (mayFail, attempts) = (Gate(), Counter())
            let container = Container {
                Registration(Disk.self, lifetime: Lifetime("stored") { StrongStorage() }) { _ in Disk() }.eager()
                failing(mayFail, attempts)
            }
            let start = Task { try await container.start() }
            await mayFail.arrived()
            try await container.withInstance(Disk.self) { disk in
                mayFail.open()
                await #expect(throws: TestError(1)) { try await start.value }
                let kept = try await container.resolve(Disk.self)
                #expect(kept === disk)
            }
            try await container.dispose()
        }
    }

    @Test func `instances that only the start uses are disposed when it fails, with their decorations`() async throws {
        try await finishes {
            let (mayFail, attempts, closed, reasons) = (Gate(), Counter(), Counter(), Log<TestError?>())
            let container = Container {
                Registration(Disk.self, lifetime: .singleton) { _ in Disk() }
                    .onDispose { _, reason in
                        closed.increment()
                        reasons.append(reason.error as? TestError)
                    }
                    .implements((any Store).self) { $0 }.eager()
                Decoration((any Store).self) { _, inner in Logged(inner: inner) }
                Registration(Report.self, lifetime: .singleton) { r in Report(try await r.lease((any Store).self)) }
                    .eager()
                failing(mayFail, attempts)
            }
            let start = Task { try await container.start() }
            await mayFail.arrived()
            let first = try await container.resolve(Disk.self)
            await until { (try? container.ready(Report.self)) != nil }
            mayFail.open()
            await #expect(throws: TestError(1)) { try await start.value }
            #expect(closed.value == 1 && reasons.entries == [TestError(1)])
            try await container.start()
            #expect(try await container.resolve(Disk.self) !== first)
            try await container.dispose()
            #expect(closed.value == 2)
        }
    }
}
