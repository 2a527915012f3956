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

/// A clock that stands still, and pauses when it is read.
private struct ClockWithPauses: Clock {
    let pause: @Sendable () -> Void
    private let clock = ManualClock()

    init(_ pause: @escaping @Sendable () -> Void) { self.pause = pause }

    var now: ManualClock.Instant {
        pause()
        return clock.now
    }
    var minimumResolution: Swift.Duration { .zero }
    func sleep(until deadline: ManualClock.Instant, tolerance: Swift.Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }
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

    @Test func `a cancelled creation that has ended leases nothing`() async throws {
        try await finishes {
            let (holder, reads, pauses, isOver) = (Locked<Container?>(nil), Counter(), Counter(), Locked(false))
            @Sendable func creationIsCancelled() -> Bool {
                holder.value?.core.withState { $0.flights.entries.values.contains(where: \.isWindingDown) } ?? false
            }
            @Sendable func leaseIsLeft() -> Bool {
                holder.value?.core.withState { $0.flights.isEmpty && !$0.leases.all.isEmpty } ?? false
            }
            let clock = ClockWithPauses {
                // Of the start or its request, which go on when the creation has ended.
                if creationIsCancelled(), reads.increment() == 1 {
                    while creationIsCancelled() { yieldThread() }
                } else if reads.value > 0, leaseIsLeft(), pauses.increment() == 1 {
                    // Of the end of a lease in a bounded multiton.
                    while !isOver.value { yieldThread() }
                }
            }
            let (mayEnd, closed) = (Gate(), Counter())
            let container = Container(clock: clock) {
                Registration(Disk.self, lifetime: .multiton(capacity: 8)) { (_, _: Int) in Disk() }
                Registration(Disk.self, lifetime: .singleton) { _ in Disk() }.onDispose { _ in closed.increment() }
                Registration(Report.self, lifetime: .singleton) { r in
                    _ = try await r.lease(Disk.self, arguments: 1)
                    _ = try await r.lease(Disk.self)
                    await mayEnd.pass()
                    throw TestError(2)
                }
                .eager()
                Registration(Int.self, lifetime: .singleton) { _ in
                    await mayEnd.arrived()
                    throw TestError(1)
                }
                .eager()
            }
            holder.value = container
            try await takingAThread {
                let start = Task { try await container.start() }
                await until { reads.value >= 1 }
                mayEnd.open()
                await #expect(throws: TestError(1)) { try await start.value }
                #expect(closed.value == 1)
                isOver.value = true
            }
            try await container.dispose()
            holder.value = nil
        }
    }

    @Test func `a failed start waits for the disposal of an instance whose hook has failed`() async throws {
        try await finishes {
            let (clock, mayClose, closed) = (ManualClock(), Gate(), Log<String>())
            let container = Container(clock: clock) {
                Registration(Disk.self, lifetime: .singleton) { _ in Disk() }.onDispose { _ in closed.append("disk") }
                Registration(Report.self, lifetime: .singleton) { r in Report(try await r.lease(Disk.self)) }
                    .onCreate { _, _ in throw TestError(1) }
                    .onDispose { _ in
                        await mayClose.pass()
                        closed.append("report")
                    }
                    .eager()
            }
            let start = Task { try await container.start() }
            await mayClose.arrived()
            await until { clock.hasSleepers || container.startFailure != nil }
            mayClose.open()
            await #expect(throws: TestError(1)) { try await start.value }
            #expect(closed.entries == ["report", "disk"])
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
