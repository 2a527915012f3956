import Testing

@testable import AsyncDI

/// Entries of custom storages, and the waits for them.
@Suite(.timeLimit(.minutes(10))) struct StoredInstanceTests {
    @Test(arguments: [false, true])
    func `a weak storage lets its instance go, observed or not`(isObserved: Bool) async throws {
        let runs = Counter()
        let container = Container(observers: isObserved ? [RecordingObserver()] : []) {
            Registration(Thing.self, lifetime: Lifetime("weakly") { WeakStorage() }) { _ in Thing(runs.increment()) }
        }
        try await resolveOnce(container)
        #expect(try await container.resolve(Thing.self).number == 2)
        try await container.withInstance(Thing.self) { thing in
            let again = try await container.resolve(Thing.self)
            #expect(again === thing)
        }
        try await container.dispose()
    }

    private func resolveOnce(_ container: Container) async throws {
        let held = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === held)
    }

    /// Keeps its instance for one use after the first.
    private final class CountingStorage: InstanceStorage {
        private let content = Locked<(instance: (any Sendable)?, uses: Int)>((nil, 0))

        func load() -> (any Sendable)? {
            content.withLock {
                $0.uses += 1
                return $0.uses <= 2 ? $0.instance : nil
            }
        }
        func peek() -> (any Sendable)? { content.withLock { $0.instance } }
        func store(_ instance: any Sendable) { content.withLock { $0 = (instance, 1) } }
        func clear() { content.withLock { $0 = (nil, 0) } }
    }

    @Test(arguments: [false, true])
    func `neither a health check nor a description is a use of a stored instance`(isComposite: Bool) async throws {
        let runs = Counter()
        let lifetime = Lifetime("counted") { () -> any InstanceStorage in
            if isComposite { CompositeStorage([CountingStorage()]) } else { CountingStorage() }
        }
        let container = Container {
            Registration(Int.self, lifetime: lifetime) { _ in runs.increment() }.healthCheck { _ in }
        }
        #expect(try await container.resolve(Int.self) == 1)
        for _ in 0..<3 {
            #expect(await container.health(timeout: .seconds(60)).entries.count == 1)
            #expect(container.description.contains("1 alive"))
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Int.self) == 2)
        try await container.dispose()
    }

    /// An instance that keeps a way back to its container.
    private final class Desk: Sendable {
        private let wayBack: any Sendable
        private let gone: Counter

        init(_ wayBack: any Sendable, gone: Counter) { (self.wayBack, self.gone) = (wayBack, gone) }
        deinit { gone.increment() }
    }

    enum WayBack: CaseIterable { case resolver, provider, lazy }

    @Test(arguments: WayBack.allCases)
    func `an instance that keeps a way back to its container goes with it when it is dropped`(
        wayBack: WayBack
    ) async throws {
        let gone = Counter()
        func useOnce() async throws {
            let container = Container {
                Registration(Int.self) { _ in 1 }
                Registration(Desk.self, lifetime: Lifetime("stored") { StrongStorage() }) { r in
                    switch wayBack {
                    case .resolver: Desk(r, gone: gone)
                    case .provider: Desk(try await r.resolve(Provider<Int>.self), gone: gone)
                    case .lazy: Desk(try await r.resolve(Lazy<Int>.self), gone: gone)
                    }
                }
            }
            _ = try await container.resolve(Desk.self)
        }
        try await useOnce()
        await until { gone.value == 1 }
    }

    @Test func `a request that is cancelled leaves no entry behind`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("stored") { StrongStorage() }) { (_, n: Int) in Thing(n) }
        }
        for number in 0..<3 {
            let request = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await container.resolve(Thing.self, arguments: number)
            }
            await #expect(throws: CancellationError.self) { try await request.value }
        }
        #expect(container.core.withState { $0.instances.count } == 0)
    }

    @Test func `a disposal waits for a storage that a reset clears`() async throws {
        try await takingAThread {
            let (holder, disposal) = (Locked<Container?>(nil), Locked<Task<Void, any Error>?>(nil))
            let phases = Log<String>()
            let storage = UserStorage(cleared: {
                guard let container = holder.value else { return }
                disposal.value = Task.detached(priority: .high) { try await container.dispose() }
                while container.core.withState({ $0.life.isOpen }) { yieldThread() }
                phases.append("\(container.core.withState { $0.life.phase })")
            })
            let container = Container {
                Registration(Thing.self, lifetime: Lifetime("stored") { storage }) { _ in Thing(1) }
            }
            holder.value = container
            _ = try await container.resolve(Thing.self)
            try await container.reset(Thing.self)
            #expect(phases.entries == ["disposing"])
            try await disposal.value?.value
            #expect(container.core.withState { $0.life.phase } == .disposed)
            holder.value = nil
        }
    }

    @Test func `a reset of an instance in creation tells of no eviction`() async throws {
        let factory = DrivenFactory<Int>()
        let observer = RecordingObserver()
        let container = Container(observers: [observer]) {
            Registration(Int.self, lifetime: Lifetime("stored") { StrongStorage() }) { _ in try await factory.run() }
        }
        let request = Task { try await container.resolve(Int.self) }
        await factory.began(1)
        try await container.reset(Int.self)
        factory.answer(1)
        _ = try await request.value
        await container.deliverEvents()
        #expect(!observer.events.contains { $0.kind == .evicted })
    }

    @Test(arguments: [0, -1]) func `a capacity that no cache can have is an invalid registration`(capacity: Int)
        async throws
    {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton(capacity: capacity)) { (_, n: Int) in Thing(n) }
        }
        let error = await expect(.invalidRegistration) { try await container.resolve(Thing.self, arguments: 1) }
        #expect(error?.message == "Thing(Int) is multiton, but its capacity is \(capacity), and must be at least 1.")
        await #expect(throws: ValidationError.self) { try await container.validate() }
        await expect(.invalidRegistration) {
            try await container.register(Int.self, lifetime: .multiton(idle: .seconds(-1))) { (_, n: Int) in n }
        }
        let other = Container(defaultLifetime: .multiton(capacity: 0)) { Registration(Int.self) { _ in 1 } }
        await expect(.invalidRegistration) { try await other.resolve(Int.self) }
    }

    @Test func `an instance that is stored while a disposal begins is cleared before it is closed`() async throws {
        let log = Log<String>()
        let disposal = Locked<Task<Void, any Error>?>(nil)
        let holder = Locked<Container?>(nil)
        let lifetime = Lifetime("kept") {
            UserStorage {
                guard let container = holder.value else { return }
                disposal.value = Task { try await container.dispose() }
                while container.core.withState({ $0.life.isOpen }) { yieldThread() }
            } cleared: {
                log.append("cleared")
            }
        }
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in log.append("hook") }
        }
        holder.value = container
        try await takingAThread {
            await expect(.disposed) { try await container.resolve(Thing.self) }
            try await disposal.value?.value
        }
        holder.value = nil
        #expect(log.entries == ["cleared", "hook"])
    }
}
