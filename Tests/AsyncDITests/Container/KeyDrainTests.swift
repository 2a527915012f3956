import Testing

@testable import AsyncDI

/// The drain of one key whose service has no `onDispose`: its instance may close something at its last release.
@Suite(.timeLimit(.minutes(10))) struct KeyDrainTests {
    private final class Pool: Sendable {}
    private static func container(_ lifetime: Lifetime, isObserved: Bool) -> Container {
        Container(observers: isObserved ? [RecordingObserver()] : []) {
            Registration(Pool.self, lifetime: lifetime) { (_, _: String) in Pool() }
        }
    }

    @Test(arguments: [Lifetime.multiton, .singleton, .multiton(capacity: 1)], [false, true])
    func `a drain waits for the lease, and the next instance waits for the drain`(
        lifetime: Lifetime, isObserved: Bool
    ) async throws {
        let container = Self.container(lifetime, isObserved: isObserved)
        let log = Log<String>()
        let mayEnd = Gate()
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in
                await mayEnd.pass()
                log.append("lease ends")
            }
        }
        await mayEnd.arrived()
        let drain = Task {
            try await container.drain(Pool.self, arguments: "a")
            log.append("drained")
        }
        await until { container.core.withState { $0.instances.isEmpty } }
        let next = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in log.append("next") }
        }
        await container.core.waiters(of: Pool.self, reach: 1)
        _ = try await container.resolve(Pool.self, arguments: "b")
        mayEnd.open()
        _ = try await (body.value, drain.value, next.value)
        #expect(log.entries.first == "lease ends")
        #expect(Set(log.entries) == ["lease ends", "drained", "next"])
        try await container.dispose()
    }

    @Test(arguments: [false, true])
    func `a drain waits for an instance that was reset before`(isObserved: Bool) async throws {
        let container = Self.container(.multiton, isObserved: isObserved)
        try await container.withInstance(Pool.self, arguments: "a") { _ in
            try await container.reset(Pool.self, arguments: "a")
            let drain = Task.detached {
                try await container.drain(Pool.self, arguments: "a", deadline: .milliseconds(1))
            }
            let error = await #expect(throws: DisposalError.self) { try await drain.value }
            #expect((error?.errors.first as? ResolutionError)?.code == .disposalTimedOut)
        }
        try await container.drain(Pool.self, arguments: "a")
        try await container.dispose()
    }

    enum Change: CaseIterable { case replaced, unregistered, otherArguments }

    @Test(arguments: Change.allCases, [Lifetime.multiton, .singleton, .scoped])
    func `a drain waits for the lease of a registration that has gone`(
        change: Change, lifetime: Lifetime
    ) async throws {
        let (container, hasHook) = (Container(), lifetime != .scoped)
        func register() async throws {
            let pool = Registration(Pool.self, lifetime: lifetime) { (_, _: String) in Pool() }
            try await container.register(hasHook ? pool.onDispose { _ in } : pool)
        }
        try await register()
        let mayEnd = Gate()
        let hasEnded = Counter()
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in
                await mayEnd.pass()
                hasEnded.increment()
            }
        }
        await mayEnd.arrived()
        switch change {
        case .replaced: try await register()
        case .unregistered: await container.unregister(Pool.self)
        case .otherArguments:
            await container.unregister(Pool.self)
            try await container.register(Pool.self) { (_, _: Int) in Pool() }
        }
        let early = await #expect(throws: DisposalError.self) {
            try await container.drain(Pool.self, arguments: "a", deadline: .milliseconds(1))
        }
        #expect((early?.errors.first as? ResolutionError)?.code == .disposalTimedOut)
        // Other arguments are not affected.
        if change != .otherArguments { try await container.drain(Pool.self, arguments: "b") }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return mayEnd.open() }
        // Immediate, so that it waits before the gate opens.
        let drain = Task.immediate {
            try await container.drain(Pool.self, arguments: "a")
            #expect(hasEnded.value == 1)
        }
        #expect(container.activity().disposals.contains { $0.waitsForLeases })
        mayEnd.open()
        _ = try await (body.value, drain.value)
        #expect(hasEnded.value == 1)
        try await container.dispose()
    }

    @Test func `a body that leases a replaced instance cannot drain its key`() async throws {
        let container = Self.container(.multiton, isObserved: false)
        try await container.withInstance(Pool.self, arguments: "a") { _ in
            try await container.register(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
            await expect(.invalidOperation) { try await container.drain(Pool.self, arguments: "a") }
        }
        try await container.drain(Pool.self, arguments: "a")
        try await container.dispose()
    }

    /// It would end with the scope, which ends after the body.
    @Test(arguments: [false, true])
    func `a drain in a body is refused while a container inside its scope has the lease`(isScope: Bool) async throws {
        struct Session: Sendable { let pool: Pool }
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
            Registration(Session.self, lifetime: .scoped) { r in
                Session(pool: try await r.lease(Pool.self, arguments: "a"))
            }
        }
        try await container.withScope { scope in
            let inside = isScope ? try await scope.openScope("inside") : Container(parent: scope)
            _ = try await inside.resolve(Session.self)
            await expect(.invalidOperation) { try await container.drain(Pool.self, arguments: "a") }
            try await inside.dispose()
            try await container.drain(Pool.self, arguments: "a")
        }
        try await container.dispose()
    }

    @Test func `a drain in a body waits for the body of another task`() async throws {
        struct Session: Sendable { let pool: Pool }
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
            Registration(Session.self, lifetime: .scoped) { r in
                Session(pool: try await r.lease(Pool.self, arguments: "a"))
            }
        }
        let mayEnd = Gate()
        try await container.withScope("socket") { socket in
            let other = Task {
                try await socket.withScope { scope in
                    _ = try await scope.resolve(Session.self)
                    await mayEnd.pass()
                }
            }
            await mayEnd.arrived()
            let drain = Task {
                try await socket.withScope { _ in try await container.drain(Pool.self, arguments: "a") }
            }
            await until { container.activity().disposals.contains { $0.waitsForLeases } }
            mayEnd.open()
            _ = try await (other.value, drain.value)
        }
        try await container.dispose()
    }

    /// So many that the leased instances are found by their keys.
    @Test func `each of many drained keys waits for its own lease`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }.onDispose { _ in }
        }
        let count = 200
        let (leased, ends) = (Gate(), (0..<count).map { _ in Gate() })
        let drained = Log<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await container.withInstance(Thing.self, arguments: number) { _ in
                        leased.arrive()
                        await ends[number].pass()
                    }
                }
            }
            await leased.arrived(count)
            try await withThrowingTaskGroup(of: Void.self) { drains in
                for number in 0..<count {
                    drains.addTask {
                        try await container.drain(Thing.self, arguments: number)
                        drained.append(number)
                    }
                }
                await until { container.activity().disposals.count { $0.waitsForLeases } == count }
                for number in stride(from: 0, to: count, by: 2) { ends[number].open() }
                await until { drained.entries.count == count / 2 }
                #expect(drained.entries.allSatisfy { $0.isMultiple(of: 2) })
                #expect(await container.cachedArguments(of: Thing.self, Int.self).isEmpty)
                ends.forEach { $0.open() }
                try await drains.waitForAll()
            }
            try await group.waitForAll()
        }
        #expect(container.activity().isEmpty && container.core.withState { $0.leases.isEmpty })
    }

    @Test func `a drain of arguments of other types than the registered ones is refused`() async throws {
        let container = Self.container(.multiton, isObserved: false)
        _ = try await container.resolve(Pool.self, arguments: "a")
        await expect(.argumentMismatch) { try await container.drain(Pool.self, arguments: 1) }
        // A reset has nothing to drop.
        try await container.reset(Pool.self, arguments: 1)
        #expect(await container.cachedArguments(of: Pool.self, String.self) == ["a"])
        let scope = try await container.openScope { Registration(Pool.self) { (_, _: Int) in Pool() } }
        try await scope.dispose()
        await expect(.disposed) { try await scope.drain(Pool.self, arguments: 1) }
        // Of a service that is not registered, there is nothing to drop.
        try await container.drain(Thing.self, arguments: 1)
        try await container.reset(Thing.self, arguments: 1)
    }

    @Test func `a drain without a lease is over at once`() async throws {
        let container = Self.container(.multiton, isObserved: false)
        weak let pool = try await container.resolve(Pool.self, arguments: "a")
        try await container.drain(Pool.self, arguments: "a")
        #expect(pool == nil)
        try await container.dispose()
    }

    @Test(arguments: [
        Lifetime.singleton, .scoped, Lifetime("login"), Lifetime("stored") { StrongStorage() }, .multiton,
    ])
    func `a leased instance that a reset overtook is closed by the drain, once`(lifetime: Lifetime) async throws {
        let (factory, closed) = (DrivenFactory<Void>(), Counter())
        let container = Container {
            Registration(Pool.self, lifetime: lifetime) { (_, _: String) in
                try await factory.run()
                return Pool()
            }
            .onDispose { _ in closed.increment() }
        }
        let request = Task { try await container.resolve(Pool.self, arguments: "a") }
        await factory.began()
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in await mayEnd.pass() } }
        await container.core.waiters(of: Pool.self, reach: 2)
        try await container.reset(Pool.self, arguments: "a")
        factory.answer(())
        _ = try await request.value
        await mayEnd.arrived()
        let drain = Task { try await container.drain(Pool.self, arguments: "a") }
        await until { container.core.withState { state in state.leases.all.contains { !$0.pending.isEmpty } } }
        mayEnd.open()
        try await body.value
        try await drain.value
        #expect(closed.value == 1)
        try await container.dispose()
        #expect(closed.value == 1)
    }

    // MARK: Inherited services

    @Test(arguments: [false, true])
    func `an inherited instance is drained where it is, also through a decoration`(isDecorated: Bool) async throws {
        let root = Self.container(.multiton, isObserved: false)
        let scope = try await root.openScope {
            if isDecorated { Decoration(Pool.self) { _, _ in Pool() } }
        }
        let child = Container(fallbacks: [scope])
        for container in [scope, child] {
            let pool = try await root.resolve(Pool.self, arguments: "a")
            _ = try await container.resolve(Pool.self, arguments: "a")
            let log = Log<String>()
            let mayEnd = Gate()
            let body = Task {
                try await root.withInstance(Pool.self, arguments: "a") { _ in
                    await mayEnd.pass()
                    log.append("lease ends")
                }
            }
            await mayEnd.arrived()
            let drain = Task {
                try await container.drain(Pool.self, arguments: "a")
                log.append("drained")
            }
            await until { await root.cachedArguments(of: Pool.self, String.self).isEmpty }
            mayEnd.open()
            _ = try await (body.value, drain.value)
            #expect(log.entries == ["lease ends", "drained"])
            #expect(try await root.resolve(Pool.self, arguments: "a") !== pool)
        }
        try await scope.dispose()
        await expect(.disposed) { try await scope.drain(Pool.self, arguments: "a") }
    }

    @Test func `a drain waits for the instance of the container's own former registration, and for the inherited one`()
        async throws
    {
        let root = Self.container(.multiton, isObserved: false)
        let child = Container(parent: root) {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
        }
        let log = Log<String>()
        let mayEnd = Gate()
        let body = Task {
            try await child.withInstance(Pool.self, arguments: "a") { _ in
                await mayEnd.pass()
                log.append("lease ends")
            }
        }
        await mayEnd.arrived()
        await child.unregister(Pool.self)
        let pool = try await child.resolve(Pool.self, arguments: "a")
        let drain = Task {
            try await child.drain(Pool.self, arguments: "a")
            log.append("drained")
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(log.entries.isEmpty)
        mayEnd.open()
        _ = try await (body.value, drain.value)
        #expect(log.entries == ["lease ends", "drained"])
        #expect(try await child.resolve(Pool.self, arguments: "a") !== pool)
    }

    @Test func `a former registration's lease does not keep the inherited instance from being drained`() async throws {
        let root = Self.container(.multiton, isObserved: false)
        let child = Container(parent: root) {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
        }
        try await child.withInstance(Pool.self, arguments: "a") { _ in
            await child.unregister(Pool.self)
            let pool = try await child.resolve(Pool.self, arguments: "a")
            let drain = Task.detached { try await child.drain(Pool.self, arguments: "a", deadline: .zero) }
            await #expect(throws: DisposalError.self) { try await drain.value }
            #expect(try await child.resolve(Pool.self, arguments: "a") !== pool)
        }
    }

    @Test func `the errors of a former instance and of an inherited one come together, with their service`()
        async throws
    {
        @RegistrationBuilder func registrations(_ number: Int) -> Registrations {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }
                .onDispose { (_: Pool) in throw TestError(number) }
        }
        let root = Container { registrations(1) }
        let child = Container(parent: root) { registrations(2) }
        let mayEnd = Gate()
        let body = Task { try await child.withInstance(Pool.self, arguments: "a") { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        await child.unregister(Pool.self)
        _ = try await child.resolve(Pool.self, arguments: "a")
        let drain = Task { try await child.drain(Pool.self, arguments: "a") }
        await until { await root.cachedArguments(of: Pool.self, String.self).isEmpty }
        mayEnd.open()
        try await body.value
        let error = await #expect(throws: DisposalError.self) { try await drain.value }
        #expect(Set(error?.errors.compactMap { ($0 as? TestError)?.number } ?? []) == [1, 2])
        #expect(error?.services.allSatisfy { $0?.hasPrefix("Pool") == true } == true)
    }
}
