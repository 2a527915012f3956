import Testing

@testable import AsyncDI

extension RecordingObserver {
    /// How many instances of each service are alive, as a gauge over events counts them.
    ///
    /// Nil where a disposal came without a creation.
    fileprivate var alive: [String: Int]? {
        var alive: [String: Int] = [:]
        for event in events {
            switch event {
            case .created(let key, _, _): alive[key.description, default: 0] += 1
            case .disposed(let key): alive[key.description, default: 0] -= 1
            default: break
            }
            if alive.values.contains(where: { $0 < 0 }) { return nil }
        }
        return alive.filter { $0.value != 0 }
    }

    fileprivate var texts: [String] { events.map(\.description) }

    /// Yields until the event has come.
    fileprivate func received(_ text: String) async { await received { $0.description == text } }
}

/// Each creation in the events is followed by one disposal.
@Suite(.timeLimit(.minutes(10))) struct DisposalEventTests {
    private static let lifetimes: [Lifetime] = [
        .singleton, .scoped, .multiton, .multiton(capacity: 2), .multiton(weak: true), .weak, Lifetime("custom"),
        Lifetime("stored", storage: { StrongStorage() }), Lifetime("weakly stored", storage: { WeakStorage() }),
    ]

    @Test(arguments: lifetimes, [false, true])
    func `a gauge over events is right, with and without hooks`(lifetime: Lifetime, hasHook: Bool) async throws {
        let gauge = RecordingObserver()
        var registration = Registration(Thing.self, lifetime: lifetime) { (_, n: Int) in Thing(n) }
        if hasHook, lifetime.ownsInstances { registration = registration.onDispose { _ in } }
        let container = Container(observers: [gauge]) {
            registration
            Registration(String.self, lifetime: .singleton) { _ in "last" }
        }
        var held: [Thing] = []
        for n in [1, 2, 3, 1, 4] { held.append(try await container.resolve(Thing.self, arguments: n)) }
        try await container.withScope { scope in
            for n in [1, 5] { held.append(try await scope.resolve(Thing.self, arguments: n)) }
        }
        try await container.reset(Thing.self, arguments: 2)
        held = []
        for n in [1, 2, 6] { held.append(try await container.resolve(Thing.self, arguments: n)) }
        try await container.reset(lifetime)
        held.append(try await container.resolve(Thing.self, arguments: 7))
        _ = try await container.resolve(String.self)
        try await container.dispose()
        await gauge.received("disposed String")
        while gauge.alive?.isEmpty == false { await Task.yield() }
        #expect(gauge.alive == [:], "\(gauge.lines)")
    }

    @Test func `a value in a weak lifetime, which is never kept, is disposed at once`() async throws {
        let gauge = RecordingObserver()
        let container = Container(observers: [gauge]) { Registration(Int.self, lifetime: .weak) { _ in 1 } }
        _ = try await container.resolve(Int.self)
        await gauge.received("disposed Int")
        _ = try await container.resolve(Int.self)
        try await container.dispose()
        #expect(gauge.alive != nil)
    }

    @Test func `a creation that fails after its factory is no instance, and its end no disposal`() async throws {
        let gauge = RecordingObserver()
        let container = Container(observers: [gauge]) {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
                .onCreate { _, _ in throw TestError(1) }
                .onDispose { _ in }
            Registration(String.self, lifetime: .singleton) { _ in "" }
        }
        _ = try? await container.resolve(Thing.self)
        _ = try await container.resolve(String.self)
        try await container.dispose()
        await gauge.received("disposed String")
        #expect(!gauge.texts.contains("disposed Thing"))
    }

    @Test func `an instance in flight at a reset is disposed once`() async throws {
        let gauge = RecordingObserver()
        let factory = DrivenFactory<Thing>()
        let container = Container(observers: [gauge]) {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
            Registration(String.self, lifetime: .singleton) { _ in "" }
        }
        _ = try await container.resolve(String.self)
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.reset(Thing.self)
        let second = Task { try await container.resolve(Thing.self) }
        await factory.began(2)
        factory.answer(Thing(1), run: 0)
        factory.answer(Thing(2), run: 1)
        _ = try await (first.value, second.value)
        try await container.dispose()
        await gauge.received("disposed String")
        while gauge.alive?.isEmpty == false { await Task.yield() }
        #expect(gauge.alive == [:], "\(gauge.lines)")
    }

    @Test func `an instance that was registered as such is neither created, evicted nor disposed`() async throws {
        let gauge = RecordingObserver()
        let container = Container(observers: [gauge])
        try await container.register(Registration(Thing.self, instance: Thing(1)).onDispose { _ in })
        _ = try await container.resolve(Thing.self)
        try await container.register(Registration(Thing.self, instance: Thing(2)).onDispose { _ in })
        await container.unregister(Thing.self)
        try await container.register(Registration(Thing.self, instance: Thing(3)).onDispose { _ in })
        try await container.dispose()
        #expect(gauge.texts == Array(repeating: "registered Thing", count: 3))
    }
}
