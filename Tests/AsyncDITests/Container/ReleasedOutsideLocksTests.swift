import Testing

@testable import AsyncDI

/// A value whose end uses a container: it must not end under a lock of the library.
private final class Token: Qualifier, Sendable {
    let number: Int
    private let atEnd: @Sendable () -> Void

    init(_ number: Int = 0, atEnd: @escaping @Sendable () -> Void = {}) {
        self.number = number
        self.atEnd = atEnd
    }

    deinit { atEnd() }

    static func == (first: Token, second: Token) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

private protocol Speaker: Sendable {}
private final class Service: Speaker {}
private final class Holder: Sendable {
    let service: Service
    init(_ service: Service) { self.service = service }
}

/// The deinitializers of keys, arguments and closures are user code: each of these tests hangs if one runs under a
/// lock.
@Suite(.timeLimit(.minutes(10))) struct ReleasedOutsideLocksTests {
    private let ends = Counter()

    /// A token that describes a container at its end, which takes the container's lock.
    private func token(_ number: Int, describing container: Container) -> Token {
        Token(number) { [ends, weak container] in
            _ = container?.description
            ends.increment()
        }
    }

    @Test func `the key of a replaced contribution is released outside the lock`() async throws {
        let container = Container()
        for _ in 0..<2 {
            let key = token(1, describing: container)
            try await container.registerMany(Service.self, key: key, lifetime: .singleton) { _ in Service() }
            _ = try await container.resolveMany(Service.self)
        }
        await container.unregisterMany(Service.self)
        #expect(try await container.resolveMany(Service.self).isEmpty)
        #expect(ends.value >= 1)
        try await container.dispose()
    }

    @Test func `the qualifier of a replaced alias is released outside the lock`() async throws {
        let container = Container()
        func registration() -> Registration<Service> {
            Registration(Service.self, lifetime: .singleton) { _ in Service() }
        }
        try await container.register(
            registration().implements((any Speaker).self, qualifier: token(1, describing: container)))
        try await container.register(registration())
        _ = try await container.resolve((any Speaker).self, qualifier: Token(1))
        try await container.register((any Speaker).self, qualifier: token(1, describing: container)) { _ in Service() }
        try await container.reset()
        #expect(ends.value == 1)
        try await container.dispose()
    }

    @Test func `the argument of an earlier instance is released outside the lock`() async throws {
        let container = Container()
        let (closing, runs) = (Gate(), Counter())
        try await container.register(
            Registration(Service.self, lifetime: .singleton) { (_, _: Token) in Service() }
                .onDispose { _ in if runs.increment() == 1 { await closing.pass() } })
        try await container.register(Holder.self, lifetime: .singleton) { [self] r in
            Holder(try await r.lease(Service.self, arguments: token(1, describing: container)))
        }
        _ = try await container.resolve(Holder.self)
        try await container.reset(Service.self)
        _ = try await container.resolve(Service.self, arguments: token(1, describing: container))
        let reset = Task { try await container.reset(Service.self) }
        while runs.value == 0 { await Task.yield() }
        try await container.reset(Holder.self)
        closing.open()
        try await reset.value
        #expect(ends.value == 2)
        try await container.dispose()
    }

    @Test(arguments: [2, 40])
    func `the arguments of requests in a kept graph are released outside its lock`(count: Int) async throws {
        let container = Container { Registration(Service.self, lifetime: .graph) { (_, _: Token) in Service() } }
        let identifier = GraphIdentifier()
        let kept = try await container.withGraph(identifier) {
            try await $0.resolve(Service.self, arguments: Token(0))
        }
        let services = try await container.withGraph(identifier) { [ends] resolver in
            var services: [Service] = []
            for number in 0..<count {
                // The first one is equal to the one before, which the graph has as a key.
                let token = Token(number) { [weak graph = identifier.graph] in
                    _ = graph?.count
                    ends.increment()
                }
                services.append(try await resolver.resolve(Service.self, arguments: token))
            }
            return services
        }
        #expect(services.first === kept)
        #expect(ends.value == 1)
    }

    /// The graph has the registration that an instance was first made for, and may be the last one to have it.
    @Test func `an entry that a kept graph replaces is released outside its lock`() async throws {
        let container = Container { Registration(Service.self, lifetime: .graph) { _ in Service() } }
        let identifier = GraphIdentifier()
        // In a function, because a debug build releases a local reference only at the end of its scope.
        func make() async throws -> Service {
            let token = Token { [ends, weak graph = identifier.graph] in
                _ = graph?.count
                ends.increment()
            }
            try await container.register(Holder.self, lifetime: .singleton) { _ in
                let service = try await container.withGraph(identifier) { try await $0.resolve(Service.self) }
                return withExtendedLifetime(token) { Holder(service) }
            }
            return try await container.resolve(Holder.self).service
        }
        weak let first = try await make()
        #expect(first != nil)
        await container.unregister(Holder.self)
        await until { first == nil }
        #expect(ends.value == 0, "the graph has the registration")
        let second = try await container.withGraph(identifier) { try await $0.resolve(Service.self) }
        await until { ends.value == 1 }
        withExtendedLifetime(second) {}
    }

    @Test func `the run of a request that a disposed container has refused is released outside the lock`() async throws
    {
        let (root, other) = (Container(), Container())
        let opening = Gate()
        try await other.register(Service.self, lifetime: .singleton) { _ in
            await opening.pass()
            return Service()
        }
        try await root.register(Holder.self, lifetime: .transient) { (_, _: Token) in
            Holder(try await other.resolve(Service.self))
        }
        try await root.register(Int.self, lifetime: .singleton) { [ends] r in
            let token = Token(1) { [weak root] in
                _ = root?.activity()
                ends.increment()
            }
            _ = try? await r.resolve(Holder.self, arguments: token)
            return 1
        }
        let first = Task { try? await other.resolve(Service.self) }
        await other.core.waiters(of: Service.self, reach: 1)
        let second = Task { try await root.resolve(Int.self) }
        await other.core.waiters(of: Service.self, reach: 2)
        let disposal = Task { try await other.dispose() }
        #expect(try await second.value == 1)
        #expect(ends.value == 1)
        opening.open()
        _ = await first.value
        try await disposal.value
        try await root.dispose()
    }
}
