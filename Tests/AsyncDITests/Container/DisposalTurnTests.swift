import Testing

@testable import AsyncDI

private final class Pool: Sendable {
    let tenant: Int
    init(_ tenant: Int) { self.tenant = tenant }
}
private final class Outbox: Sendable {}
private final class Registry: Sendable {}
private final class Folder: Sendable {
    let name: String
    let parent: Folder?
    init(_ name: String, in parent: Folder?) { (self.name, self.parent) = (name, parent) }
}

/// Instances of one multiton that leave the cache together: none waits for the hook of another one, unless it may be
/// in use there.
@Suite(.timeLimit(.minutes(10))) struct DisposalTurnTests {
    private let closed = Log<Int>()
    private let hung = Gate()

    /// Pools of which one does not close until the gate opens.
    private func pools(capacity: Int? = nil, hanging tenant: Int) -> Registration<Pool> {
        let (closed, hung) = (closed, hung)
        return Registration(Pool.self, lifetime: capacity.map { .multiton(capacity: $0) } ?? .multiton) { _, tenant in
            Pool(tenant)
        }
        .onDispose { pool in
            if pool.tenant == tenant { await hung.pass() }
            closed.append(pool.tenant)
        }
    }

    @Test(arguments: [0, 2, 4])
    func `a pool whose hook hangs delays neither the others nor their successors`(hanging: Int) async throws {
        let container = Container { pools(hanging: hanging) }
        for tenant in 0..<5 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        let reset = Task { try await container.reset(Pool.self) }
        await hung.arrived()
        for tenant in 0..<5 where tenant != hanging {
            _ = try await container.resolve(Pool.self, arguments: tenant)
        }
        #expect(Set(closed.entries) == Set(0..<5).subtracting([hanging]))
        hung.open()
        try await reset.value
        #expect(closed.entries.last == hanging)
    }

    @Test func `a replaced registration closes its pools side by side`() async throws {
        let container = Container { pools(hanging: 1) }
        for tenant in 0..<3 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        try await container.register(pools(hanging: -1))
        await hung.arrived()
        for tenant in [0, 2] { _ = try await container.resolve(Pool.self, arguments: tenant) }
        #expect(Set(closed.entries) == [0, 2])
        hung.open()
        _ = try await container.resolve(Pool.self, arguments: 1)
        #expect(Set(closed.entries) == [0, 1, 2])
    }

    @Test func `errors of hooks that run side by side arrive in the order of the instances`() async throws {
        struct Failure: Error, Equatable { let tenant: Int }
        let gate = Gate()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
                .onDispose { pool in
                    if pool.tenant == 2 { await gate.pass() }
                    throw Failure(tenant: pool.tenant)
                }
        }
        for tenant in 0..<3 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        let reset = Task { try await container.reset(Pool.self) }
        await gate.arrived()
        gate.open()
        let error = await #expect(throws: DisposalError.self) { try await reset.value }
        #expect(error?.errors.map { ($0 as? Failure)?.tenant } == [2, 1, 0])
    }

    @Test func `pools that a singleton holds close one after the other, the latest first`() async throws {
        let container = Container {
            pools(hanging: 1)
            Registration(Registry.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Pool.self, arguments: 0)
                return Registry()
            }
        }
        _ = try await container.resolve(Registry.self)
        for tenant in 1..<3 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        let reset = Task { try await container.reset(Pool.self) }
        await hung.arrived()
        for _ in 0..<100 { await Task.yield() }
        #expect(closed.entries == [2])
        hung.open()
        try await reset.value
        #expect(closed.entries == [2, 1, 0])
    }

    @Test func `an instance that holds another one of its multiton closes before it`() async throws {
        let (names, gate) = (Log<String>(), Gate())
        let container = Container {
            Registration(Folder.self, lifetime: .multiton) { (resolver: Resolver, path: [String]) in
                let above = Array(path.dropLast())
                let parent = above.isEmpty ? nil : try await resolver.resolve(Folder.self, arguments: above)
                return Folder(path.joined(separator: "/"), in: parent)
            }
            .onDispose { folder in
                if folder.name == "a/b" { await gate.pass() }
                names.append(folder.name)
            }
        }
        // The hit of a cached folder counts like its creation.
        _ = try await container.resolve(Folder.self, arguments: ["a"])
        _ = try await container.resolve(Folder.self, arguments: ["a", "b"])
        let reset = Task { try await container.reset(Folder.self) }
        await gate.arrived()
        for _ in 0..<100 { await Task.yield() }
        #expect(names.entries.isEmpty)
        gate.open()
        try await reset.value
        #expect(names.entries == ["a/b", "a"])
    }

    @Test func `a hook that needs the successor of a pool in a later turn is refused`() async throws {
        let errors = Log<ResolutionError.Code?>()
        let reference = Locked<Container?>(nil)
        let closed = closed
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
                .onDispose { closed.append($0.tenant) }
            Registration(Outbox.self, lifetime: .multiton) { (_: Resolver, _: Int) in Outbox() }
                .onDispose { _ in
                    do {
                        _ = try await reference.withLock { $0 }?.resolve(Pool.self, arguments: 1)
                    } catch let error as ResolutionError {
                        errors.append(error.code)
                    }
                }
        }
        reference.withLock { $0 = container }
        for tenant in 0..<3 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        for number in 0..<2 { _ = try await container.resolve(Outbox.self, arguments: number) }
        try await container.reset()
        #expect(errors.entries == [.circularDependency, .circularDependency])
        #expect(Set(closed.entries) == [0, 1, 2])
        reference.withLock { $0 = nil }
        try await container.dispose()
    }

    @Test func `an evicted instance that does not close delays older ones alone, and the error names it`()
        async throws
    {
        let (clock, closed) = (ManualClock(), closed)
        let container = Container(name: "app", clock: clock) {
            pools(capacity: 2, hanging: 0)
            Registration(Outbox.self, lifetime: .singleton) { _ in Outbox() }.onDispose { _ in closed.append(100) }
            Registration(Registry.self, lifetime: .singleton) { _ in Registry() }.onDispose { _ in closed.append(200) }
        }
        _ = try await container.resolve(Registry.self)
        for tenant in 0..<3 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        await hung.arrived()
        _ = try await container.resolve(Outbox.self)
        let disposal = Task { try await container.dispose(deadline: .seconds(1)) }
        while closed.entries.count < 3 { await Task.yield() }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: DisposalError.self) { try await disposal.value }
        #expect(error.map { "\($0)".contains("it waits for the onDispose of Pool(0)") } == true)
        #expect(closed.entries == [100, 2, 1], "the oldest one waits")
        hung.open()
        while closed.entries.count < 5 { await Task.yield() }
        #expect(closed.entries.suffix(2) == [0, 200])
        try await container.dispose()
    }

    @Test(arguments: [0, 1])
    func `a factory awaits the reset of pools although a hook of one needs its product`(tenant: Int) async throws {
        let reference = Locked<Container?>(nil)
        let errors = Log<ResolutionError.Code>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
                .onDispose { pool in
                    guard pool.tenant == tenant, let container = reference.withLock({ $0 }) else { return }
                    do {
                        _ = try await container.resolve(Outbox.self)
                    } catch let error as ResolutionError {
                        errors.append(error.code)
                    }
                }
            Registration(Outbox.self, lifetime: .singleton) { _ in
                try await reference.withLock { $0 }?.reset(Pool.self)
                return Outbox()
            }
        }
        reference.withLock { $0 = container }
        for tenant in 0..<2 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        _ = try await container.resolve(Outbox.self)
        #expect(errors.entries == [.circularDependency])
        reference.withLock { $0 = nil }
    }

    @Test func `what a failed instance uses is closed after it`() async throws {
        struct Failure: Error {}
        let (mayClose, closed) = (Gate(), closed)
        let container = Container {
            Registration(Registry.self, lifetime: .singleton) { _ in Registry() }.onDispose { _ in closed.append(1) }
            Registration(Outbox.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Registry.self)
                return Outbox()
            }
            .onCreate { _, _ in throw Failure() }
            .onDispose { _ in
                await mayClose.pass()
                closed.append(2)
            }
        }
        await #expect(throws: Failure.self) { try await container.resolve(Outbox.self) }
        await mayClose.arrived()
        let disposal = Task { try await container.dispose() }
        while container.core.disposalUnderWay?.subject == nil, closed.entries.isEmpty { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(closed.entries.isEmpty)
        mayClose.open()
        try await disposal.value
        #expect(closed.entries == [2, 1])
    }

    @Test func `two instances of one key that are closed at once both close before what they use`() async throws {
        let (closing, mayClose, closed) = (Gate(), Gate(), closed)
        let count = Counter()
        let container = Container {
            Registration(Registry.self, lifetime: .singleton) { _ in Registry() }.onDispose { _ in closed.append(0) }
            Registration(Pool.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Registry.self)
                return Pool(count.increment())
            }
            .onDispose { pool in
                closing.arrive()
                if pool.tenant == 1 { await mayClose.pass() }
                closed.append(pool.tenant)
            }
        }
        _ = try await container.resolve(Pool.self)
        let first = Task { try await container.reset(Pool.self) }
        await closing.arrived()
        let second = Task { try await container.resolve(Pool.self) }
        let disposal = Task { try await container.dispose() }
        for _ in 0..<100 { await Task.yield() }
        #expect(!closed.entries.contains(0))
        mayClose.open()
        try await first.value
        _ = try? await second.value
        try await disposal.value
        #expect(closed.entries.last == 0)
    }
}
