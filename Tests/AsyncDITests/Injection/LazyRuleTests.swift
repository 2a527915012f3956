import Testing

@testable import AsyncDI

/// The rules about the caller of a `Lazy`, at the first call and at each later one.
@Suite(.timeLimit(.minutes(10))) struct LazyRuleTests {
    @Test(arguments: [Lifetime.scoped, Lifetime("session")], [false, true])
    func `a kept instance is refused to a singleton, as at the first call`(
        lifetime: Lifetime, isFixed: Bool
    ) async throws {
        struct Holder: Sendable { let lazy: Lazy<Thing> }
        let shared = Log<Lazy<Thing>>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Holder.self, lifetime: .transient) { r in Holder(lazy: try await r.resolve()) }
            Registration(String.self, lifetime: .singleton) { _ in "\(try await shared.entries[0]().number)" }
            Registration(Double.self, lifetime: .transient) { _ in Double(try await shared.entries[0]().number) }
        }
        shared.append(isFixed ? try await container.resolve(Holder.self).lazy : Lazy(Thing.self, from: container))
        let thing = try await shared.entries[0]()
        await expect(.captiveDependency) { try await container.resolve(String.self) }
        #expect(try await shared.entries[0]() === thing)
        #expect(try await container.resolve(Double.self) == 0)
    }

    @Test func `a task that has outlived its scope gets no kept instance of another one`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        let lazy = Lazy(Thing.self, from: container)
        _ = try await lazy()
        let isOver = Gate()
        let task = try await container.withScope { _ in
            Task {
                await isOver.pass()
                await expect(.disposed) { try await container.resolve(Thing.self) }
                await expect(.disposed) { try await lazy() }
            }
        }
        isOver.open()
        await task.value
        _ = try await lazy()
    }

    private struct Facade: Sendable { let setting: Setting }
    private final class Setting: Sendable {}

    /// A service that a scope has overridden a dependency of, for a task that has outlived the scope.
    @Test(arguments: [Lifetime.transient, .graph], [false, true])
    func `a task that has outlived its scope is refused alone, whatever other tasks do with the lazy`(
        lifetime: Lifetime, isLateFirst: Bool
    ) async throws {
        let (mayEnd, begun, own) = (Gate(), Counter(), Setting())
        let container = Container {
            Registration(Setting.self, instance: own)
            Registration(Facade.self, lifetime: lifetime) { r in
                begun.increment()
                await mayEnd.pass()
                return Facade(setting: try await r.resolve())
            }
        }
        let lazy = Lazy(Facade.self, from: container)
        let isOver = Gate()
        let late = try await container.withScope {
            Registration(Setting.self, instance: Setting())
        } operation: { _ in
            Task {
                await isOver.pass()
                await expect(.disposed) { try await lazy() }
            }
        }
        if isLateFirst {
            isOver.open()
            await until { begun.value == 1 }
        }
        let current = Task.detached { try await lazy() }
        await until { begun.value == (isLateFirst ? 2 : 1) }
        isOver.open()
        await until { begun.value == 2 }
        mayEnd.open()
        #expect(try await current.value.setting === own)
        await late.value
        #expect(try await lazy().setting === own)
    }

    @Test func `a task that has outlived several scopes is refused what belonged to the outer one, too`() async throws {
        let container = Container {
            Registration(Setting.self, instance: Setting())
            Registration(Facade.self, lifetime: .transient) { r in Facade(setting: try await r.resolve()) }
        }
        let lazy = Lazy(Facade.self, from: container)
        _ = try await lazy()
        let own = Setting()
        let (innerIsOver, outerIsOver, isAnswered) = (Gate(), Gate(), Gate())
        let late = try await container.withScope {
            Registration(Setting.self, instance: own)
        } operation: { outer in
            let late = try await outer.withScope { _ in
                Task {
                    await innerIsOver.pass()
                    let answer = try await lazy()
                    #expect(answer.setting === own)
                    isAnswered.open()
                    await outerIsOver.pass()
                    await expect(.disposed) { try await lazy() }
                }
            }
            innerIsOver.open()
            await isAnswered.pass()
            return late
        }
        outerIsOver.open()
        try await late.value
    }

    @Test func `a task that has outlived its scope gets the kept instance if nothing of it belonged to the scope`()
        async throws
    {
        let made = Counter()
        let container = Container { Registration(Thing.self) { _ in Thing(made.increment()) } }
        let lazy = Lazy(Thing.self, from: container)
        let (isOver, kept) = (Gate(), try await lazy())
        let task = try await container.withScope { _ in
            Task {
                await isOver.pass()
                let thing = try await lazy()
                for _ in 0..<10 { #expect(try await lazy() === thing) }
                return thing
            }
        }
        isOver.open()
        #expect(try await task.value === kept)
        #expect(made.value == 2, "only a creation shows what belonged to the scope, once")
    }

    @Test func `singletons that call one lazy at the same time are not refused because of each other`() async throws {
        let shared = Log<Lazy<Thing>>()
        let (made, mayEnd) = (Counter(), Gate())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                made.increment()
                await mayEnd.pass()
                return Thing()
            }
            Registration(Int.self, lifetime: .singleton) { _ in try await shared.entries[0]().number }
            Registration(String.self, lifetime: .singleton) { _ in "\(try await shared.entries[0]().number)" }
            Registration(Double.self, lifetime: Lifetime("session")) { _ in 1 }
            Registration(Float.self, lifetime: .scoped) { _ in 1 }
        }
        shared.append(Lazy(Thing.self, from: container))
        _ = try await (container.resolve(Double.self), container.resolve(Float.self))
        async let requests = (
            container.resolve(Int.self), container.resolve(String.self), shared.entries[0]().number
        )
        await mayEnd.arrived()
        for _ in 0..<100 { await Task.yield() }
        mayEnd.open()
        #expect(try await requests == (0, "0", 0))
        #expect(made.value == 1)
    }

    @Test(arguments: [Lifetime.transient, .graph])
    func `a kept instance that was made for no holder is not shared with a singleton that may not have its parts`(
        lifetime: Lifetime
    ) async throws {
        struct Facade: Sendable { let thing: Thing }
        let shared = Log<Lazy<Facade>>()
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(Facade.self, lifetime: lifetime) { r in Facade(thing: try await r.resolve()) }
            Registration(String.self, lifetime: .singleton) { _ in "\(try await shared.entries[0]().thing.number)" }
        }
        shared.append(Lazy(Facade.self, from: container))
        await expect(.captiveDependency) { try await container.resolve(String.self) }
        let kept = try await shared.entries[0]()
        await expect(.captiveDependency) { try await container.resolve(String.self) }
        #expect(try await shared.entries[0]().thing === kept.thing)
    }

    @Test func `a change during a call is not undone by that call`() async throws {
        /// Changes a `Lazy` when it is hashed for the second time: during the call.
        final class Changing: Qualifier {
            let change: Locked<(@Sendable () -> Void)?>
            init() { change = Locked(nil) }
            static func == (first: Changing, second: Changing) -> Bool { true }
            func hash(into hasher: inout Hasher) { change.withLock { $0.take() }?() }
        }
        let name = Changing()
        let container = Container {
            Registration(Thing.self, qualifier: name, lifetime: .multiton) { (_, number: Int) in Thing(number) }
        }
        let lazy = Lazy(Thing.self, qualifier: name, from: container, arguments: 0)
        name.change.withLock { $0 = { lazy.use(arguments: 1) } }
        _ = try await lazy()
        #expect(try await lazy().number == 1)
        #expect(try await lazy().number == 1)
    }

    @Test(arguments: [Lifetime.transient, .graph])
    func `a singleton that may not have the kept instance has one of its own, at each call`(
        lifetime: Lifetime
    ) async throws {
        let (shared, seen) = (Log<Lazy<Thing>>(), Log<Thing>())
        let container = Container {
            Registration(Int.self, lifetime: .scoped) { _ in 1 }
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(String.self, lifetime: .singleton) { _ in
                for _ in 0..<3 { seen.append(try await shared.entries[0]()) }
                return ""
            }
        }
        shared.append(Lazy(Thing.self, from: container))
        _ = try await container.resolve(Int.self)
        let kept = try await shared.entries[0]()
        _ = try await container.resolve(String.self)
        let own = Set(seen.entries.map { ObjectIdentifier($0) })
        #expect(own.count == 1 && !own.contains(ObjectIdentifier(kept)))
        #expect(try await shared.entries[0]() === kept)
    }

    @Test func `a kept optional is refused to a singleton, too`() async throws {
        let shared = Log<Lazy<Thing?>>()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("session")) { _ in Thing() }
            Registration(String.self, lifetime: .singleton) { _ in "\(try await shared.entries[0]() == nil)" }
        }
        shared.append(Lazy(Thing?.self, from: container))
        #expect(try await shared.entries[0]() != nil)
        await expect(.captiveDependency) { try await container.resolve(String.self) }
        #expect(try await shared.entries[0]() != nil)
    }
}
