import Testing

@testable import AsyncDI

/// A creation that waits for the disposal of the previous instance does not wait where the disposal needs it.
///
/// In each test, another task has requested the successor before.
@Suite(.timeLimit(.minutes(10))) struct SuccessorYieldTests {
    private protocol Service: Sendable {}
    private final class SomeService: Service {}
    private final class Logger: Sendable {}
    private final class Cache: Sendable {}

    private static var lifetimes: [Lifetime] { [.singleton, .scoped, Lifetime("custom")] }

    @Test(arguments: lifetimes)
    func `a hook that resolves its own successor joins its creation`(lifetime: Lifetime) async throws {
        let mayResolve = Gate()
        let received = Locked<Logger?>(nil)
        let box = Locked<Container?>(nil)
        let container = Container {
            Registration(Logger.self, lifetime: lifetime) { _ in Logger() }
                .onDispose { _ in
                    guard received.withLock({ $0 == nil }) else { return }
                    await mayResolve.pass()
                    let logger = try await box.withLock { $0 }?.resolve(Logger.self)
                    received.withLock { $0 = logger }
                }
        }
        box.withLock { $0 = container }
        _ = try await container.resolve(Logger.self)
        let reset = Task { try await container.reset(Logger.self) }
        await mayResolve.arrived()
        let other = Task { try await container.resolve(Logger.self) }
        await container.core.waiters(of: Logger.self, reach: 1)
        mayResolve.open()
        try await reset.value
        #expect(try await other.value === received.withLock { $0 })
        box.withLock { $0 = nil }
        try await container.dispose()
    }

    @Test(arguments: lifetimes)
    func `a hook may resolve a service that was reset before it`(lifetime: Lifetime) async throws {
        let mayResolve = Gate()
        let box = Locked<Container?>(nil)
        let isFirst = Locked(true)
        let container = Container {
            Registration(Logger.self, lifetime: lifetime) { _ in Logger() }.onDispose { _ in }
            Registration(Cache.self, lifetime: lifetime) { r in
                _ = try await r.resolve(Logger.self)
                return Cache()
            }
            .onDispose { _ in
                guard isFirst.withLock({ $0 }) else { return }
                isFirst.withLock { $0 = false }
                await mayResolve.pass()
                _ = try await box.withLock { $0 }?.resolve(Logger.self)
            }
        }
        box.withLock { $0 = container }
        _ = try await container.resolve(Cache.self)
        let reset = Task { try await container.reset() }
        await mayResolve.arrived()
        let other = Task { try await container.resolve(Logger.self) }
        await container.core.waiters(of: Logger.self, reach: 1)
        mayResolve.open()
        try await reset.value
        _ = try await other.value
        box.withLock { $0 = nil }
        try await container.dispose()
    }

    @Test(arguments: lifetimes)
    func `the body of a lease gets the successor of its instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Logger.self, lifetime: lifetime) { _ in Logger() }.onDispose { _ in }
            Registration(Cache.self, lifetime: lifetime) { r in
                _ = try await r.resolve(Logger.self)
                return Cache()
            }
        }
        try await container.withInstance(Logger.self) { old in
            try await container.reset(Logger.self)
            let other = Task.detached { try await container.resolve(Logger.self) }
            await container.core.waiters(of: Logger.self, reach: 1)
            _ = try await container.resolve(Cache.self)
            let new = try await other.value
            #expect(new !== old)
            #expect(try await container.resolve(Logger.self) === new)
        }
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.singleton, Lifetime("custom")])
    func `a scope whose instance leases the former one gets the successor`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Logger.self, lifetime: lifetime) { _ in Logger() }.onDispose { _ in }
            Registration(Cache.self, lifetime: .scoped) { r in
                _ = try await r.lease(Logger.self)
                return Cache()
            }
        }
        // Opened by hand, so that no body takes part.
        let scope = try await container.openScope()
        _ = try await scope.resolve(Cache.self)
        try await container.reset(Logger.self)
        let other = Task { try await container.resolve(Logger.self) }
        await container.core.waiters(of: Logger.self, reach: 1)
        let new = try await scope.resolve(Logger.self)
        #expect(try await other.value === new)
        try await container.dispose()
    }

    @Test func `a decorator gets the successor of the instance that it decorates`() async throws {
        let mayResolve = Gate()
        let container = Container {
            Registration(SomeService.self, lifetime: .singleton) { _ in SomeService() }.onDispose { _ in }
                .implements((any Service).self) { $0 }
            Decoration((any Service).self) { r, inner in
                await mayResolve.pass()
                _ = try await r.resolve(SomeService.self)
                return inner
            }
        }
        let decorated = Task { try await container.resolve((any Service).self) }
        await mayResolve.arrived()
        try await container.reset(SomeService.self)
        let other = Task { try await container.resolve(SomeService.self) }
        await container.core.waiters(of: SomeService.self, reach: 1)
        mayResolve.open()
        _ = try await decorated.value
        _ = try await other.value
        try await container.dispose()
    }

    @Test func `an instance of a multiton is never created beside the former one`() async throws {
        let container = Container {
            Registration(Logger.self, lifetime: .multiton) { (_, _: String) in Logger() }.onDispose { _ in }
        }
        try await container.withInstance(Logger.self, arguments: "a") { _ in
            try await container.reset(Logger.self, arguments: "a")
            let error = await expect(.circularDependency) {
                try await container.resolve(Logger.self, arguments: "a")
            }
            #expect(error?.description.contains("was reset or replaced while") == true)
            let other = Task.detached { try await container.resolve(Logger.self, arguments: "a") }
            await container.core.waiters(of: Logger.self, reach: 1)
            await expect(.circularDependency) {
                try await container.resolve(Logger.self, arguments: "a")
            }
            other.cancel()
        }
        try await container.dispose()
    }
}
