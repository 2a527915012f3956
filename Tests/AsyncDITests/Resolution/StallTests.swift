import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}

/// Waits that no graph can see the end of.
@Suite(.timeLimit(.minutes(10))) struct StallTests {
    // MARK: The decision

    @Test func `a wait is due once, when its time is up`() {
        var watch = StallWatch<Int>(threshold: .seconds(10))
        #expect(watch.nextCheck(at: .zero) == nil)
        watch.begin(1, at: .seconds(1))
        watch.begin(2, at: .seconds(4))
        #expect(watch.nextCheck(at: .seconds(5)) == .seconds(6))
        #expect(watch.due(at: .seconds(10)).isEmpty)
        #expect(watch.due(at: .seconds(11)).map(\.wait) == [1])
        #expect(watch.due(at: .seconds(11)).isEmpty)
        #expect(watch.nextCheck(at: .seconds(11)) == .seconds(3))
        #expect(watch.due(at: .seconds(20)).map(\.lasted) == [.seconds(16)])
        #expect(watch.nextCheck(at: .seconds(20)) == nil)
        watch.end(1)
        watch.end(2)
        #expect(watch.isEmpty)
    }

    @Test func `the same wait by many begins with the first and ends with the last`() {
        var watch = StallWatch<Int>(threshold: .seconds(10))
        watch.begin(1, at: .zero)
        watch.begin(1, at: .seconds(9))
        watch.end(1)
        #expect(watch.due(at: .seconds(10)).map(\.lasted) == [.seconds(10)])
        watch.end(1)
        watch.end(1)
        #expect(watch.isEmpty)
        watch.begin(1, at: .seconds(20))
        #expect(watch.nextCheck(at: .seconds(20)) == .seconds(10), "a new wait")
    }

    // MARK: The report

    @Test func `a module that awaits a detached task which resolves is reported`() async throws {
        struct Detaching: Module {
            let container: Log<Container>
            let tasks: Log<Task<A, any Error>>
            var registrations: Registrations { Registration(A.self) { _ in A() } }

            func loaded(_ resolver: Resolver) async throws {
                let task = Task.detached { [container] in try await container.entries[0].resolve(A.self) }
                tasks.append(task)
                _ = try? await task.value
            }
        }
        let observer = RecordingObserver(stallThreshold: .seconds(30))
        let clock = ManualClock()
        let (containers, tasks) = (Log<Container>(), Log<Task<A, any Error>>())
        let container = Container(observers: [observer], clock: clock) {
            Detaching(container: containers, tasks: tasks)
        }
        containers.append(container)
        let asker = Task { try await container.resolve(A.self) }
        while tasks.entries.isEmpty { await Task.yield() }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(31))
        await observer.received { $0.kind == .stalled }
        #expect(observer.stalls[0].hasPrefix("stalled: a request has been waiting for Module.loaded for 3"))
        tasks.entries[0].cancel()
        _ = try await asker.value
        try await container.dispose()
    }

    @Test func `a deadlock through a captured container in a detached task is reported`() async throws {
        let observer = RecordingObserver(stallThreshold: .seconds(30))
        let clock = ManualClock()
        let container = Container(observers: [observer], clock: clock)
        // A's factory waits invisibly for B; B's factory resolves A.
        try await container.register(A.self, lifetime: .singleton) { [weak container] _ in
            _ = try await Task.detached { try await container?.resolve(B.self) }.value
            return A()
        }
        try await container.register(B.self, lifetime: .singleton) { r in
            _ = try await r.resolve(A.self)
            return B()
        }
        let asker = Task { try await container.resolve(A.self) }
        await container.core.waiters(of: A.self, reach: 2)
        await container.core.waiters(of: B.self, reach: 1)
        // A request is counted as a waiter before it is watched: the time passes until each has been.
        while observer.stalls.count < 3, !Task.isCancelled {
            clock.advance(by: .seconds(30))
            await Task.yield()
        }
        let stalls = observer.stalls.map { $0.split(separator: " for ") }
        #expect(
            Set(stalls.map { $0.dropLast().joined(separator: " for ") }) == [
                "stalled: a request has been waiting for A", "stalled: a request has been waiting for B",
                "stalled: B has been waiting for A",
            ])
        for stall in stalls {
            let seconds = try #require(stall.last?.split(separator: " ").first.flatMap { Int($0) })
            #expect(seconds >= 30)
        }
        #expect(observer.stalls.count == 3, "each once")
        asker.cancel()
        try? await container.dispose(deadline: .zero)
    }

    @Test(arguments: [Lifetime.singleton, .scoped])
    func `a wait is told before the end of the creation, or not at all`(lifetime: Lifetime) async throws {
        let observer = RecordingObserver()
        let factory = DrivenFactory<A>()
        let container = Container(observers: [observer], clock: ManualClock()) {
            Registration(A.self, lifetime: lifetime) { _ in try await factory.run() }
        }
        let scope = try await container.openScope("s")
        let asker = Task { try await scope.resolve(A.self) }
        await factory.began()
        let owner = lifetime == .singleton ? container.core : scope.core
        let creation = try #require(owner.withState { $0.flights.entries.keys.first })
        let wait = StallMonitor.Wait(of: nil, for: creation, asking: scope.core)
        scope.core.tell(wait, lasting: .seconds(30))
        factory.answer(A())
        _ = try await asker.value
        // The monitor had found it due, and comes too late.
        scope.core.tell(wait, lasting: .seconds(30))
        try await container.register(B.self) { _ in B() }
        await observer.received { if case .registered(let key) = $0 { key.service == B.self } else { false } }
        #expect(
            observer.events.map(\.description) == [
                "registered A", "opened scope \"s\"", "stalled: a request has been waiting for A for 30 s",
                "created A in 0 s for 1 waiter", "registered B",
            ])
    }

    @Test func `no task is held when nothing waits`() async throws {
        let observer = RecordingObserver(stallThreshold: .seconds(30))
        let clock = ManualClock()
        let factory = DrivenFactory<A>()
        let container = Container(observers: [observer], clock: clock) {
            Registration(A.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        await clock.sleepers(reach: 0)
        let asker = Task { try await container.resolve(A.self) }
        await clock.sleepers(reach: 1)
        factory.answer(A())
        _ = try await asker.value
        await clock.sleepers(reach: 0)
        #expect(observer.stalls.isEmpty)
        // And the next wait is watched again.
        try await container.reset()
        let next = Task { try await container.resolve(A.self) }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(30))
        await observer.received { $0.kind == .stalled }
        #expect(observer.stalls.count == 1)
        factory.answer(A(), run: 1)
        _ = try await next.value
    }

    @Test func `without observers there is no stall monitor`() async throws {
        let clock = ManualClock()
        let factory = DrivenFactory<A>()
        let container = Container(clock: clock) {
            Registration(A.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        #expect(container.core.stalls == nil)
        let asker = Task { try await container.resolve(A.self) }
        await factory.began()
        await clock.sleepers(reach: 0)
        factory.answer(A())
        _ = try await asker.value
    }

    @Test func `the stall threshold is ten seconds unless declared, and the shortest of several`() {
        struct Plain: ContainerObserver {
            func container(_ container: Container, did event: ContainerEvent) {}
        }
        #expect(Plain().stallThreshold == .seconds(10) && Plain().wantedEvents == .all)
        let queue = EventQueue(observers: [Plain(), RecordingObserver(stallThreshold: .seconds(3))])
        #expect(queue?.stallThreshold == .seconds(3))
    }

    @Test func `very many waits, most of which end, cost no more than their number`() {
        var watch = StallWatch<Int>(threshold: .seconds(10))
        let count = 200_000
        for number in 0..<count {
            watch.begin(number, at: .milliseconds(number))
            // Every second one ends soon; the others last.
            if number % 2 == 1 { watch.end(number) }
            let due = watch.due(at: .milliseconds(number))
            #expect(due.map(\.wait) == (number >= 10_000 && number % 2 == 0 ? [number - 10_000] : []))
        }
        #expect(watch.nextCheck(at: .milliseconds(count - 1)) == .milliseconds(1))
        for number in stride(from: 0, to: count, by: 2) { watch.end(number) }
        #expect(watch.isEmpty)
        #expect(watch.due(at: .seconds(1_000)).isEmpty)
        #expect(watch.nextCheck(at: .seconds(1_000)) == nil)
    }
}
