import Foundation
import Testing

@testable import AsyncDI

private struct Engine: Sendable {}
private struct Car: Sendable {
    let engine: Engine
}
private final class Wheel: Sendable {}

/// The events that observers receive.
@Suite(.timeLimit(.minutes(10))) struct ContainerObserverTests {
    @Test func `an instance's whole life is told, in order`() async throws {
        let observer = RecordingObserver()
        let clock = ManualClock()
        let container = Container(name: "app", observers: [observer], clock: clock) {
            Registration(Engine.self, lifetime: .singleton) { _ in
                clock.advance(by: .seconds(3))
                return Engine()
            }
            .onDispose { _ in }
        }
        _ = try await container.resolve(Engine.self)
        _ = try await container.resolve(Engine.self)
        try await container.reset(Engine.self)
        _ = try await container.resolve(Engine.self)
        try await container.dispose()
        #expect(
            await observer.received(6) == [
                "app: registered Engine", "app: created Engine in 3 s for 1 waiter", "app: evicted Engine",
                "app: disposed Engine", "app: created Engine in 3 s for 1 waiter", "app: disposed Engine",
            ])
    }

    @Test func `the largest number of waiters is told`() async throws {
        let observer = RecordingObserver()
        let factory = DrivenFactory<Engine>()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(Engine.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await container.resolve(Engine.self) } }
            await container.core.waiters(of: Engine.self, reach: 100)
            factory.answer(Engine())
            try await group.waitForAll()
        }
        #expect(await observer.received(2).last == "-: created Engine in 0 s for 100 waiters")
    }

    @Test func `a failure and an abandonment are told with their errors`() async throws {
        let observer = RecordingObserver()
        let factory = DrivenFactory<Engine>()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(Engine.self, lifetime: .singleton) { _ in
                let engine = try await factory.run()
                try Task.checkCancellation()
                return engine
            }
        }
        factory.fail(TestError(7))
        await #expect(throws: TestError(7)) { try await container.resolve(Engine.self) }
        #expect(await observer.received(2).last == "-: failed Engine: TestError(number: 7)")

        let asker = Task { try await container.resolve(Engine.self) }
        await factory.began(2)
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        factory.answer(Engine(), run: 1)
        #expect(await observer.received(3).last == "-: failed Engine: CancellationError()")
    }

    @Test func `an observer that keeps an error does not keep the container`() async throws {
        let observer = RecordingObserver()
        let captured = try await failInContainer(observed: observer)
        #expect(captured.wheel == nil)
        // The path of the cycle is complete.
        let longest = observer.events.map { "\($0)".components(separatedBy: " → ").count }.max()
        #expect(longest == 4)
    }

    private func failInContainer(observed observer: RecordingObserver) async throws -> WeakWheel {
        let wheel = Wheel()
        let container = Container(observers: [observer]) {
            Registration(Int.self, lifetime: .singleton) { [wheel] resolver in
                try await Int(resolver.resolve(String.self)) ?? Int(bitPattern: ObjectIdentifier(wheel))
            }
            Registration(Float.self, lifetime: .multiton) { (resolver, number: Int) in
                try await resolver.resolve(Float.self, arguments: number % 3 + 1)
            }
        }
        await expect(.notRegistered) { _ = try await container.resolve(Int.self) }
        await expect(.circularDependency) { _ = try await container.resolve(Float.self, arguments: 1) }
        await container.deliverEvents()
        return WeakWheel(wheel: wheel)
    }

    private struct WeakWheel {
        weak let wheel: Wheel?
    }

    @Test func `a hook that throws is told, then the disposal, also in the background`() async throws {
        let observer = RecordingObserver()
        var container: Container? = Container(observers: [observer], clock: ManualClock()) {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }
                .onDispose { _ in throw TestError(1) }
        }
        _ = try await container?.resolve(Engine.self)
        // A replacement does not wait for the replaced instance; the container needs no other reference either.
        try await container?.register(Engine.self) { _ in Engine() }
        container = nil
        #expect(
            await observer.received(6) == [
                "-: registered Engine", "-: created Engine in 0 s for 1 waiter", "-: evicted Engine",
                "-: registered Engine", "-: failed Engine: TestError(number: 1)", "-: disposed Engine",
            ])
    }

    @Test func `when body and disposal both throw, the disposal's error is told`() async throws {
        let observer = RecordingObserver()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(Engine.self, lifetime: .scoped) { _ in Engine() }.onDispose { _ in throw TestError(1) }
        }
        await #expect(throws: TestError(2)) {
            try await container.withScope("s") { scope in
                _ = try await scope.resolve(Engine.self)
                throw TestError(2)
            }
        }
        #expect(await observer.received(6).contains("s: failed Engine: TestError(number: 1)"))
    }

    @Test func `scopes are told by the container they are opened in, and tell of themselves`() async throws {
        let observer = RecordingObserver()
        let container = Container(name: "app", observers: [observer], clock: ManualClock()) {
            Registration(Engine.self, lifetime: .scoped) { _ in Engine() }
        }
        try await container.withScope("request-1") {
            Registration(using: Car.init)
        } operation: { scope in
            _ = try await scope.resolve(Car.self)
        }
        #expect(
            await observer.received(6) == [
                "app: registered Engine", "app: opened scope \"request-1\"", "request-1: registered Car",
                "request-1: created Engine in 0 s for 1 waiter", "request-1: disposed Engine",
                "app: closed scope \"request-1\"",
            ])
    }

    @Test func `a registration that is kept out is not told`() async throws {
        for policy in [DuplicatePolicy.keep, .reject] {
            let observer = RecordingObserver()
            let container = Container(onDuplicate: policy, observers: [observer], clock: ManualClock()) {
                Registration(Engine.self) { _ in Engine() }
                Registration(Engine.self) { _ in Engine() }
                Registration(Wheel.self) { _ in Wheel() }
            }
            #expect(await observer.received(2) == ["-: registered Engine", "-: registered Wheel"])
            withExtendedLifetime(container) {}
        }
    }

    @Test func `an eviction by capacity and by idleness is told`() async throws {
        let observer = RecordingObserver()
        let clock = ManualClock()
        let container = Container(observers: [observer], clock: clock) {
            Registration(Wheel.self, lifetime: .multiton(capacity: 1, idle: .seconds(5))) { (_, _: Int) in Wheel() }
        }
        _ = try await container.resolve(Wheel.self, arguments: 1)
        _ = try await container.resolve(Wheel.self, arguments: 2)
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(5))
        let created = "-: created Wheel(Int) in 0 s for 1 waiter"
        let lines = await observer.received(7)
        #expect(
            lines.filter { $0 != "-: disposed Wheel(Int)" } == [
                "-: registered Wheel(Int)", created, created, "-: evicted Wheel(Int)", "-: evicted Wheel(Int)",
            ])
        #expect(lines.count { $0 == "-: disposed Wheel(Int)" } == 2)
    }

    @Test func `under concurrency no instance is evicted before it was created`() async throws {
        let observer = RecordingObserver()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(Wheel.self, lifetime: .singleton) { _ in Wheel() }.onDispose { _ in }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<200 { _ = try await container.resolve(Wheel.self) } }
                group.addTask { for _ in 0..<200 { try await container.reset(Wheel.self) } }
            }
            try await group.waitForAll()
        }
        try await container.dispose()
        await container.core.settled(observer)
        var living = 0
        var undisposed = 0
        for event in observer.events {
            switch event {
            case .created: (living, undisposed) = (living + 1, undisposed + 1)
            case .evicted: living -= 1
            case .disposed: undisposed -= 1
            default: break
            }
            // Each leaves after it came; one that was reset in flight was never cached.
            #expect(living >= 0 && undisposed >= 0)
        }
        #expect(undisposed == 0)
    }

    @Test func `a slow observer delays no request`() async throws {
        let gate = Gate()
        let observer = GatedObserver(gate)
        try await takingAThread {
            let container = Container(observers: [observer], clock: ManualClock()) {
                Registration(Wheel.self, lifetime: .singleton) { _ in Wheel() }
            }
            defer { observer.release() }
            // The observer is handling its first event; the code below needs no other thread of the pool.
            await gate.arrived()
            try await container.register(Engine.self, instance: Engine())
            _ = try await container.resolve(Engine.self)
            try await container.register(Wheel.self, instance: Wheel())
            await container.unregister(Engine.self)
            #expect(observer.count.value == 0)
        }
        while observer.count.value < 3 { await Task.yield() }
    }
}

/// Observers that block, more of them than there are threads for tasks.
@Suite(.timeLimit(.minutes(10))) struct BlockedObserverTests {
    @Test func `observers that block take no thread from tasks, nor from other containers' observers`() async throws {
        let gate = Gate()
        let blocked = (0..<64).map { _ in GatedObserver(gate) }
        let containers = blocked.map { observer in
            Container(observers: [observer], clock: ManualClock()) { Registration(Wheel.self) { _ in Wheel() } }
        }
        defer { for observer in blocked { observer.release() } }
        while blocked.contains(where: { !$0.isBlocking }) { await Task.yield() }
        // Tasks run, and another container's observer receives its events.
        let observer = RecordingObserver()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(Wheel.self, lifetime: .singleton) { _ in Wheel() }
        }
        let wheel = try await Task.detached { try await container.resolve(Wheel.self) }.value
        _ = await observer.received(2)
        #expect(blocked.allSatisfy { $0.count.value == 0 })
        withExtendedLifetime((containers, wheel)) {}
    }

    @Test func `events arrive in order, also after pauses`() async throws {
        let observer = RecordingObserver()
        let container = Container(name: "app", observers: [observer], clock: ManualClock())
        for number in 0..<1000 {
            try await container.register(Int.self, qualifier: .key(number)) { _ in number }
            if number.isMultiple(of: 100) { _ = await observer.received(number + 1) }
        }
        #expect(await observer.received(1000) == (0..<1000).map { "app: registered Int[\($0)]" })
    }
}

/// Blocks its thread in each event until it is released.
private final class GatedObserver: ContainerObserver {
    let count = Counter()
    private let gate: Gate
    private let released = ThreadGate()
    private let began = Locked(false)
    var isBlocking: Bool { began.withLock { $0 } }

    init(_ gate: Gate) { self.gate = gate }

    func release() { released.open() }
    func container(_ container: Container, did event: ContainerEvent) {
        began.withLock { $0 = true }
        gate.arrive()
        released.wait()
        count.increment()
    }
}

extension ContainerCore {
    /// Yields until an observer has received the last disposal.
    fileprivate func settled(_ observer: RecordingObserver) async {
        func open() -> Int {
            observer.events.reduce(0) { count, event in
                switch event {
                case .created: count + 1
                case .disposed: count - 1
                default: count
                }
            }
        }
        while open() != 0 { await Task.yield() }
    }
}
