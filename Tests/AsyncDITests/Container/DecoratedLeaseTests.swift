import Testing

@testable import AsyncDI

extension ContainerCore {
    /// Whether the hooks of a dropped instance wait for leases.
    fileprivate var postponesHooks: Bool {
        withState { state in !state.leases.pending { $0.binding.hasDisposalHooks }.isEmpty }
    }
}

/// Leases of decorated instances, which hold the instances inside.
@Suite(.timeLimit(.minutes(10))) struct DecoratedLeaseTests {
    enum Place: CaseIterable { case alias, child, childOfAlias, scope, scoped }
    enum Change: CaseIterable { case reset, replacement }

    private func registration(_ lifetime: Lifetime) -> Registration<Cable> {
        Registration(Cable.self, lifetime: lifetime) { _ in Cable() }
            .onDispose { $0.close() }
            .implements((any Line).self) { $0 }
    }

    private var cables: Decoration { Decoration(Cable.self) { _, inner in Cable(around: inner) } }
    private var lines: Decoration { Decoration((any Line).self) { _, inner in Cable(around: inner) } }

    /// Passes `body` the container to change, and the one to lease in.
    private func run(
        _ place: Place, _ lifetime: Lifetime, _ body: (Container, Container) async throws -> Void
    ) async throws {
        switch place {
        case .alias:
            let container = Container {
                registration(lifetime)
                lines
            }
            try await body(container, container)
            try await container.dispose()
        case .child, .childOfAlias:
            let root = Container { registration(lifetime) }
            try await body(root, Container(parent: root) { place == .child ? cables : lines })
            try await root.dispose()
        case .scope:
            let root = Container { registration(lifetime) }
            try await root.withScope {
                cables
            } operation: {
                try await body(root, $0)
            }
        case .scoped:
            let root = Container { registration(.scoped) }
            try await root.withScope {
                cables
            } operation: {
                try await body($0, $0)
            }
        }
    }

    private func line(_ place: Place, in container: Container) async throws -> any Line {
        switch place {
        case .alias, .childOfAlias: try await container.resolve((any Line).self)
        case .child, .scope, .scoped: try await container.resolve(Cable.self)
        }
    }

    private func withLine(
        _ place: Place, in container: Container, _ body: (any Line) async throws -> Void
    ) async throws {
        switch place {
        case .alias, .childOfAlias: try await container.withInstance((any Line).self) { try await body($0) }
        case .child, .scope, .scoped: try await container.withInstance(Cable.self) { try await body($0) }
        }
    }

    @Test(
        arguments: Place.allCases, [Lifetime.singleton, .multiton, .multiton(capacity: 1), Lifetime("login")])
    func `a lease of a decorated instance holds the one inside when that is reset`(
        _ place: Place, _ lifetime: Lifetime
    ) async throws {
        try await run(place, lifetime) { changed, leasing in
            let reset = Locked<Task<Void, any Error>?>(nil)
            let leased = Locked<(any Line)?>(nil)
            try await withLine(place, in: leasing) { line in
                leased.withLock { $0 = line }
                reset.withLock { $0 = Task.detached { try await changed.reset(Cable.self) } }
                await until { (try? changed.ready(Cable.self)) == nil && (try? leasing.ready(Cable.self)) == nil }
                #expect(changed.core.postponesHooks)
                #expect(line.isOpen)
            }
            try await reset.withLock { $0 }?.value
            await until { leased.withLock { $0?.isOpen } == false }
            #expect(try await self.line(place, in: leasing).isOpen)
        }
    }

    @Test(arguments: [Place.alias, .child, .childOfAlias, .scope], [Lifetime.singleton, .multiton])
    func `a lease of a decorated instance holds the one inside when its registration is replaced`(
        _ place: Place, _ lifetime: Lifetime
    ) async throws {
        try await run(place, lifetime) { changed, leasing in
            let leased = Locked<(any Line)?>(nil)
            try await withLine(place, in: leasing) { line in
                leased.withLock { $0 = line }
                try await changed.register(registration(lifetime))
                #expect(changed.core.postponesHooks)
                #expect(line.isOpen)
            }
            await until { leased.withLock { $0?.isOpen } == false }
            #expect(try await self.line(place, in: leasing).isOpen)
        }
    }

    @Test func `a lease of a decorated instance holds the one that was registered`() async throws {
        let given = Cable()
        let container = Container {
            Registration(Cable.self, instance: given).onDispose { $0.close() }
            cables
        }
        try await container.withInstance(Cable.self) { _ in
            try await container.reset()
            try await container.register(Cable.self, instance: Cable())
            #expect(container.core.postponesHooks)
            #expect(given.isOpen)
        }
        await until { !given.isOpen }
        #expect(try await container.resolve(Cable.self).isOpen)
        try await container.dispose()
    }

    @Test func `an instance that leases a decorated one holds the one inside`() async throws {
        let container = Container {
            registration(.singleton)
            lines
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease((any Line).self)
                return Thing()
            }
        }
        let line = try await container.resolve((any Line).self)
        _ = try await container.resolve(Thing.self)
        try await container.reset(Cable.self)
        #expect(line.isOpen)
        #expect(try await container.resolve((any Line).self) as AnyObject !== line as AnyObject)
        try await container.reset(Thing.self)
        await until { !line.isOpen }
        try await container.dispose()
    }

    @Test func `a decoration that is being made at a reset is not kept, and releases the instance inside`() async throws
    {
        let gate = Gate()
        let root = Container { registration(.singleton) }
        let child = Container(parent: root) {
            Decoration(Cable.self) { _, inner in
                await gate.pass()
                return Cable(around: inner)
            }
        }
        let request = Task { try await child.resolve(Cable.self) }
        await gate.arrived()
        let reset = Task.detached { try await root.reset(Cable.self) }
        await until { (try? root.ready(Cable.self)) == nil }
        gate.open()
        let old = try await request.value
        try await reset.value
        await until { !old.isOpen }
        #expect(try await child.resolve(Cable.self).isOpen)
    }

    @Test func `a decoration in a cycle of properties holds the unfinished instance without a lease`() async throws {
        let container = Container {
            registration(.singleton).injectProperties { r, _ in _ = try await r.resolve(Thing.self) }
            lines
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.resolve((any Line).self)
                return Thing()
            }
        }
        let cable = try await container.resolve(Cable.self)
        let line = try await container.resolve((any Line).self)
        #expect((line as? Cable)?.inner as? Cable === cable)
        try await container.reset(Cable.self)
        #expect(!line.isOpen)
        #expect(try await container.resolve((any Line).self).isOpen)
    }

    @Test func `a decoration in a cycle of properties of a bounded multiton is refused`() async throws {
        let container = Container {
            Registration(Cable.self, lifetime: .multiton(capacity: 2)) { (_, _: String) in Cable() }
                .injectProperties { (r: Resolver, _: Cable, name: String) in
                    _ = try await r.resolve(Thing.self, arguments: name)
                }
                .implements((any Line).self) { $0 }
            lines
            Registration(Thing.self, lifetime: .multiton(capacity: 2)) { (r: Resolver, name: String) in
                _ = try await r.resolve((any Line).self, arguments: name)
                return Thing()
            }
        }
        let error = await expect(.invalidOperation) { try await container.resolve(Cable.self, arguments: "a") }
        #expect(error?.message.hasPrefix("Line(String) decorates an instance of Cable(String)") == true)
    }

    @Test func `a drain waits for the lease of a decorated forwarded type`() async throws {
        let container = Container {
            Registration(Cable.self, lifetime: .multiton) { (_, _: String) in Cable() }
                .onDispose { $0.close() }
                .implements((any Line).self) { $0 }
            lines
        }
        let drain = Locked<Task<Void, any Error>?>(nil)
        try await container.withInstance((any Line).self, arguments: "a") { line in
            drain.withLock {
                $0 = Task.detached { try await container.drain(Cable.self, arguments: "a") }
            }
            await until { container.core.postponesHooks }
            #expect(line.isOpen)
        }
        try await drain.withLock { $0 }?.value
        #expect(try await container.resolve((any Line).self, arguments: "a").isOpen)
    }

    // MARK: Leases that no scope ends

    enum Levels: CaseIterable { case child, fallback, two }

    @Test(arguments: Levels.allCases)
    func `a long lease behind a decoration is reported to requests that would wait for its end`(_ levels: Levels)
        async throws
    {
        let pool = Container {
            Registration(Cable.self, lifetime: .multiton(capacity: 2)) { (_, _: String) in Cable() }
                .onDispose { $0.close() }
        }
        let holder = Registration(Thing.self, lifetime: .singleton) { r in
            _ = try await r.lease(Cable.self, arguments: "a")
            return Thing()
        }
        let between = Container(parent: pool) { cables }
        let user =
            switch levels {
            case .child:
                Container(parent: pool) {
                    cables
                    holder
                }
            case .fallback:
                Container(fallbacks: [pool]) {
                    cables
                    holder
                }
            case .two:
                Container(parent: between) {
                    cables
                    holder
                }
            }
        _ = try await user.resolve(Thing.self)
        try await pool.reset(Cable.self, arguments: "a")
        await expect(.invalidOperation) { try await pool.resolve(Cable.self, arguments: "a") }
        await expect(.invalidOperation) { try await pool.drain(Cable.self, arguments: "a") }
        try await user.reset(Thing.self)
        _ = try await pool.resolve(Cable.self, arguments: "a")
        try await pool.drain(Cable.self, arguments: "a")
        try await user.dispose()
        try await pool.dispose()
    }

    @Test func `a decorator's lease of another instance of the service is long`() async throws {
        let container = Container {
            registration(.singleton)
            Registration((any Line).self, qualifier: "raw", lifetime: .singleton) { _ in Cable() }
                .onDispose { ($0 as? Cable)?.close() }
            Decoration((any Line).self) { r, inner in
                _ = try await r.lease((any Line).self, qualifier: "raw")
                return Cable(around: inner)
            }
        }
        _ = try await container.resolve((any Line).self)
        try await container.reset((any Line).self, qualifier: "raw")
        let next = try await finishes { try await container.resolve((any Line).self, qualifier: "raw") }
        #expect(next.isOpen)
        try await container.dispose()
    }

    @Test(arguments: [false, true])
    func `the lease of a decoration that is kept for a cycle of properties alone is long`(
        isAwaited: Bool
    ) async throws {
        let hook = Gate()
        let container = Container {
            registration(.singleton)
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
                .injectProperties { r, _ in
                    _ = try await r.resolve((any Line).self)
                    await hook.pass()
                }
            Decoration((any Line).self) { r, inner in
                _ = try await r.resolve(Thing.self)
                return Cable(around: inner)
            }
        }
        let core = container.core
        let request = Task { try await container.resolve((any Line).self) }
        await hook.arrived()
        let reset = Task.detached { try await container.reset(Cable.self) }
        await until { core.postponesHooks }
        var successor: Task<Cable, any Error>?
        if isAwaited {
            successor = Task { try await container.resolve(Cable.self) }
            await until { core.withState { $0.flights.all.contains { $0.binding.key == ServiceKey(Cable.self) } } }
            // Until its creation waits for the disposal of the old instance.
            for _ in 0..<100 { await Task.yield() }
        }
        hook.open()
        let line = try await request.value
        let next = try await finishes { [successor] in
            if let successor { try await successor.value } else { try await container.resolve(Cable.self) }
        }
        #expect(line.isOpen && next.isOpen && (line as? Cable)?.inner as? Cable !== next)
        try await container.dispose()
        _ = await reset.result
    }

    @Test func `a successor waits for the lease of a decorating scope's instance, which the scope ends`() async throws {
        let pool = Container {
            Registration(Cable.self, lifetime: .multiton(capacity: 2)) { (_, _: String) in Cable() }
                .onDispose { $0.close() }
        }
        let next = try await pool.withScope {
            cables
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease(Cable.self, arguments: "a")
                return Thing()
            }
        } operation: { scope in
            _ = try await scope.resolve(Thing.self)
            try await pool.reset(Cable.self, arguments: "a")
            let next = Task.detached { try await pool.resolve(Cable.self, arguments: "a") }
            await pool.core.waiters(of: Cable.self, reach: 1)
            return next
        }
        #expect(try await next.value.isOpen)
        try await pool.dispose()
    }

    /// Holds the creations of decorations up.
    private struct Pause: ContainerObserver, AroundCreation {
        let gate: Gate

        func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
            // Not in a capture list, with which a closure leaves its caller's actor.
            let gate = gate
            return { create in
                await gate.pass()
                return try await create()
            }
        }
    }

    enum Step: CaseIterable { case register, unregister, both }

    @Test(arguments: Step.allCases, [true, false])
    func `a decorated instance that is replaced before its decoration has leased it is not given out`(
        step: Step, isLeased: Bool
    ) async throws {
        let gate = Gate()
        func cable(_ cable: Cable) -> Registration<Cable> {
            Registration(Cable.self, instance: cable).onDispose { $0.close() }
        }
        let (first, second) = (Cable(), Cable())
        let observer = RecordingObserver([.failed])
        let container = Container(observers: [Pause(gate: gate), observer]) {
            cable(first)
            cables
        }
        let request = Task {
            if isLeased { return try await container.withInstance(Cable.self) { ($0.inner as? Cable, $0.isOpen) } }
            let decorated = try await container.resolve(Cable.self)
            return (decorated.inner as? Cable, decorated.isOpen)
        }
        await gate.arrived()
        if step != .register { await container.unregister(Cable.self) }
        if step != .unregister { try await container.register(cable(second)) }
        await until { !first.isOpen }
        gate.open()
        if step == .unregister {
            await expect(.notRegistered) { try await request.value }
        } else {
            let (inner, isOpen) = try await request.value
            #expect(inner === second && isOpen)
        }
        try await container.dispose()
        #expect(observer.events.isEmpty, "a repetition is no failure")
    }
}
