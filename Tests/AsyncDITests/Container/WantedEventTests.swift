import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}

extension RecordingObserver {
    fileprivate var kinds: [ContainerEvent.Kinds] { events.map(\.kind) }
}

/// The events that observers choose.
@Suite(.timeLimit(.minutes(10))) struct WantedEventTests {
    /// Every event except a stall occurs here, and the last one is a registration.
    private func live(_ container: Container) async throws {
        _ = try await container.resolve(A.self)
        await #expect(throws: TestError(1)) { try await container.resolve(B.self) }
        try await container.withScope("s") { _ = try await $0.resolve(A.self) }
        try await container.reset()
        try await container.register(Thing.self) { _ in Thing(1) }
    }

    private func container(_ observers: [any ContainerObserver]) -> Container {
        Container(observers: observers) {
            Registration(A.self, lifetime: .singleton) { _ in A() }.onDispose { _ in }
            Registration(B.self, lifetime: .singleton) { _ in throw TestError(1) }
        }
    }

    @Test func `each observer is told of the kinds that it wants, in order`() async throws {
        let everything = RecordingObserver(.all)
        let failures = RecordingObserver([.failed, .stalled])
        let gauge = RecordingObserver([.created, .disposed])
        let registrations = RecordingObserver(.registered)
        try await live(container([everything, failures, gauge, registrations]))
        while everything.kinds.count < 9 || registrations.kinds.count < 3 || gauge.kinds.count < 2 {
            await Task.yield()
        }
        #expect(
            everything.kinds == [
                .registered, .registered, .created, .failed, .scopeOpened, .scopeClosed, .evicted, .disposed,
                .registered,
            ])
        #expect(failures.kinds == [.failed])
        #expect(gauge.kinds == [.created, .disposed])
        #expect(registrations.kinds == [.registered, .registered, .registered])
    }

    @Test func `an observer by itself is told the same`() async throws {
        let wanted: [ContainerEvent.Kinds] = [
            [.failed, .registered], [.disposed, .registered], [.created, .disposed, .registered],
            [.scopeOpened, .scopeClosed, .registered],
        ]
        for wanted in wanted {
            let observer = RecordingObserver(wanted)
            try await live(container([observer]))
            let kinds: [ContainerEvent.Kinds] = [
                .registered, .registered, .created, .failed, .scopeOpened, .scopeClosed, .disposed, .registered,
            ].filter { wanted.contains($0) }
            while observer.kinds.count < kinds.count { await Task.yield() }
            #expect(observer.kinds == kinds)
        }
    }

    @Test func `an event that no observer wants is not created, and no stalls are watched for`() {
        #expect(container([RecordingObserver([])]).core.events == nil)
        #expect(container([RecordingObserver(.failed)]).core.stalls == nil)
        let observed = container([RecordingObserver([.failed, .stalled]), RecordingObserver(.evicted)]).core
        #expect(observed.events?.wanted == [.failed, .stalled, .evicted])
        #expect(observed.stalls != nil)
        observed.withState { state in
            state.note(.created, { fatalError("nobody wants it") }())
        }
    }

    @Test func `the threshold is that of the observers that want to know`() {
        let queue = EventQueue(observers: [
            RecordingObserver(.failed, stallThreshold: .seconds(1)),
            RecordingObserver(.stalled, stallThreshold: .seconds(5)),
            RecordingObserver(.all, stallThreshold: .seconds(7)),
        ])
        #expect(queue?.stallThreshold == .seconds(5))
    }

    @Test func `every event has one kind`() {
        let key = ServiceKey(A.self)
        let events: [ContainerEvent] = [
            .registered(key), .created(key, duration: .zero, waiters: 1), .failed(key, TestError(1)), .evicted(key),
            .disposed(key), .scopeOpened("s"), .scopeClosed("s"), .stalled(waiting: nil, for: key, since: .zero),
        ]
        var all: ContainerEvent.Kinds = []
        for event in events { #expect(all.insert(event.kind).inserted) }
        #expect(ContainerEvent.Kinds.all.isSuperset(of: all))
    }

    @Test func `what a scope is given is no event, under whatever types`() async throws {
        let observer = RecordingObserver(.all)
        let container = Container(observers: [observer])
        try await container.withScope("request") {
            Registration(A.self, instance: A()).implements((any Sendable).self)
            Registration(expected: B.self).implements((any Sendable).self, qualifier: "b")
        } operation: { scope in
            _ = try await scope.resolve((any Sendable).self)
        }
        try await container.dispose()
        #expect(observer.kinds == [.scopeOpened, .scopeClosed])
    }
}
