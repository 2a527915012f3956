import Testing

@testable import AsyncDI

/// Observers have had every event of a container when its disposal returns, and learn the arguments.
@Suite(.timeLimit(.minutes(10))) struct LastEventTests {
    private final class Log: ContainerObserver {
        private let list = Locked<[String]>([])
        /// Holds the next event up, if set.
        private let blocking = Locked<ThreadGate?>(nil)
        var all: [String] { list.withLock { $0 } }

        func block(with gate: ThreadGate) { blocking.withLock { $0 = gate } }

        func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
            blocking.withLock { $0 }?.wait()
            let arguments = details.arguments.map { "\($0)" }.joined(separator: ", ")
            list.withLock { $0.append("\(event.name)(\(arguments))") }
        }
    }

    private func container(_ log: Log, clock: any Clock<Duration> = ContinuousClock()) -> Container {
        Container(name: "app", observers: [log], clock: clock) {
            Registration(String.self, lifetime: .multiton) { (_, name: String, number: Int) in "\(name)\(number)" }
            Registration(
                Int.self, lifetime: .multiton(capacity: 1), keyedBy: { (text: String) in text.count },
                factory: { (_, text: String) in text.count })
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        }
    }

    private static let registrations = ["registered()", "registered()", "registered()"]

    @Test(arguments: 0..<50)
    func `dispose returns after the last event`(round: Int) async throws {
        let log = Log()
        let container = container(log)
        _ = try await container.resolve(Bool.self)
        try await container.dispose()
        #expect(log.all == Self.registrations + ["created()", "disposed()"])
    }

    @Test(arguments: 0..<20)
    func `a scope's dispose returns after its last event, the end of a withScope need not`(round: Int) async throws {
        let log = Log()
        let container = container(log)
        let scope = try await container.openScope {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
        }
        _ = try await scope.resolve(Thing.self)
        try await scope.dispose()
        #expect(log.all.suffix(3) == ["created()", "disposed()", "closed()"])
        try await container.openScope(round)
        try await container.disposeScope(round)
        #expect(log.all.suffix(2) == ["opened()", "closed()"])
        let gate = ThreadGate()
        log.block(with: gate)
        try await container.withScope { _ in }
        #expect(log.all.suffix(2) == ["opened()", "closed()"])
        gate.open()
        try await container.dispose()
        #expect(log.all.suffix(4) == ["opened()", "closed()", "opened()", "closed()"])
    }

    @Test(arguments: 0..<50)
    func `dispose returns after the last event of the containers below`(round: Int) async throws {
        let (log, other) = (Log(), Log())
        let parent = Container()
        let child = Container(parent: parent, observers: [log]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        }
        let grandchild = Container(parent: child, observers: [other]) {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }
        }
        _ = try await child.resolve(Bool.self)
        _ = try await grandchild.resolve(Int.self)
        try await parent.dispose()
        #expect(log.all == ["registered()", "created()", "disposed()"])
        #expect(other.all == ["registered()", "created()", "disposed()"])
    }

    @Test func `a second call of dispose also returns after the last event of the containers below`() async throws {
        let log = Log()
        let parent = Container()
        let child = Container(parent: parent, observers: [log]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        }
        _ = try await child.resolve(Bool.self)
        await child.deliverEvents()
        let gate = ThreadGate()
        log.block(with: gate)
        let first = Task { try await parent.dispose() }
        while !parent.core.withState({ $0.life.isOver }) { await Task.yield() }
        let second = Task {
            try await parent.dispose()
            return log.all
        }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        #expect(try await second.value.last == "disposed()")
        try await first.value
    }

    @Test func `drain returns after the last event of the containers below`() async throws {
        let log = Log()
        let parent = Container()
        let child = Container(parent: parent, observers: [log]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        }
        await child.deliverEvents()
        let gate = ThreadGate()
        log.block(with: gate)
        _ = try await child.resolve(Bool.self)
        let drain = Task {
            try await parent.drain()
            return log.all
        }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        #expect(try await drain.value.suffix(2) == ["created()", "disposed()"])
    }

    @Test func `a drain that outlasts its deadline returns after the last events of the containers below`()
        async throws
    {
        let (log, isOver, mayEnd) = (Log(), Counter(), Gate())
        let clock = ManualClock()
        let parent = Container(clock: clock)
        let child = Container(parent: parent, clock: clock) {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.onDispose { _ in
                await mayEnd.pass()
            }
        }
        let grandchild = Container(parent: child, observers: [log]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        }
        _ = try await child.resolve(Int.self)
        _ = try await grandchild.resolve(Bool.self)
        await grandchild.deliverEvents()
        let gate = ThreadGate()
        log.block(with: gate)
        let drain = Task { () -> [String] in
            await #expect(throws: DisposalError.self) { try await parent.drain(deadline: .seconds(1)) }
            isOver.increment()
            return log.all
        }
        await mayEnd.arrived()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        // The next sleeper is the wait for the observer.
        while !clock.hasSleepers, isOver.value == 0 { await Task.yield() }
        gate.open()
        #expect(await drain.value.last == "disposed()")
        mayEnd.open()
        try await parent.dispose()
    }

    @Test func `a disposed container does not keep the observers of the containers below`() async throws {
        final class Owner: ContainerObserver {
            let app: Container
            init(_ app: Container) { self.app = app }
            func container(_ container: Container, did event: ContainerEvent) {}
        }
        weak var gone: Owner?
        do {
            let app = Container()
            let observer = Owner(app)
            gone = observer
            let child = Container(parent: app, observers: [observer]) { Registration(instance: true) }
            _ = try await child.resolve(Bool.self)
            try await app.dispose()
        }
        // Until the time limit of the suite cancels the test.
        while gone != nil, !Task.isCancelled { await Task.yield() }
        #expect(gone == nil)
    }

    @Test func `drain and withContainer return after the last event`() async throws {
        let log = Log()
        let container = container(log)
        let scope = try await container.openScope()
        try await scope.dispose(failing: CancellationError())
        #expect(log.all.suffix(2) == ["opened()", "closed()"])
        _ = try await container.resolve(Bool.self)
        try await container.drain()
        #expect(log.all.suffix(4) == ["opened()", "closed()", "created()", "disposed()"])
        let other = Log()
        _ = try await withContainer(observers: [other]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
        } operation: { container in
            try await container.resolve(Bool.self)
        }
        #expect(other.all == ["registered()", "created()", "disposed()"])
    }

    @Test func `events carry the arguments, or the key that was computed from them`() async throws {
        let log = Log()
        let container = container(log)
        _ = try await container.resolve(String.self, arguments: "a", 1)
        _ = try await container.resolve(Int.self, arguments: "four")
        _ = try await container.resolve(Int.self, arguments: "seven")
        try await container.reset(String.self, arguments: "a", 1)
        try await container.dispose()
        let expected: Set = [
            "created(a, 1)", "created(4)", "created(5)", "evicted(4)", "disposed(4)", "evicted(a, 1)",
            "disposed(a, 1)", "disposed(5)",
        ]
        #expect(Set(log.all.dropFirst(3)) == expected && log.all.count == 3 + expected.count)
    }

    @Test func `details can be made to test an observer with`() {
        #expect(ContainerEvent.Details(arguments: "acme", 1).arguments.map { "\($0)" } == ["acme", "1"])
        #expect(ContainerEvent.Details().arguments.isEmpty)
    }

    @Test func `arguments are listed by their types, several of them by none alone`() async throws {
        let container = container(Log())
        _ = try await container.resolve(String.self, arguments: "a", 1)
        _ = try await container.resolve(Int.self, arguments: "four")
        #expect(await container.cachedArguments(of: String.self, String.self).isEmpty)
        #expect(await container.cachedArguments(of: Int.self, Int.self) == [4])
        #expect(await container.cachedArguments(of: Int.self, String.self).isEmpty)
        let listed = await container.cachedArguments(of: String.self, String.self, Int.self)
        #expect(listed.map { "\($0)" } == ["(\"a\", 1)"])
        try await container.dispose()
    }

    @Test func `a deadline also bounds the wait for a slow observer`() async throws {
        let (log, gate, clock) = (Log(), ThreadGate(), ManualClock())
        log.block(with: gate)
        let (disposed, drained) = (container(log, clock: clock), container(log, clock: clock))
        // Both are over at once, but for the observer.
        try await clock.pass(during: Task { try await disposed.dispose(deadline: .seconds(1)) })
        try await clock.pass(during: Task { try await drained.drain(deadline: .seconds(1)) })
        #expect(log.all.isEmpty)
        gate.open()
    }

    @Test func `a hook that disposes its own container does not wait for observers`() async throws {
        let log = Log()
        let gate = ThreadGate()
        let container = Container(observers: [log]) {
            Registration(Bool.self, lifetime: .singleton) { _ in true }
                .onDispose { _, _ in
                    log.block(with: gate)
                    try await Container.hooked.withLock { $0 }?.dispose()
                    gate.open()
                }
        }
        Container.hooked.withLock { $0 = container }
        defer { Container.hooked.withLock { $0 = nil } }
        _ = try await container.resolve(Bool.self)
        try await container.dispose()
        #expect(log.all.last == "disposed()")
    }
}

extension Container {
    fileprivate static let hooked = Locked<Container?>(nil)
}

extension ContainerEvent {
    fileprivate var name: String {
        switch self {
        case .registered: "registered"
        case .created: "created"
        case .failed: "failed"
        case .evicted: "evicted"
        case .disposed: "disposed"
        case .scopeOpened: "opened"
        case .scopeClosed: "closed"
        case .stalled: "stalled"
        @unknown default: "another"
        }
    }
}
