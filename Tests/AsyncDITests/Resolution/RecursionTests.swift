import Testing

@testable import AsyncDI

/// Cannot be compared, and has padding between its parts.
private struct Level: Sendable {
    let flag: Bool
    let number: Int
    let act: @Sendable () -> Void
}

private enum Command: Sendable {
    case stop
    case go(Int, @Sendable () -> Void)
}

private final class Token: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

private protocol Shape: Sendable {}
private struct Round: Shape {
    let radius: Int
}
private final class Edge: Shape {}

/// A registration that resolves itself, and whether that ends.
@Suite(.timeLimit(.minutes(10))) struct RecursionTests {
    // MARK: Arguments that cannot be compared

    /// A transient that resolves itself with another argument, until no argument is left.
    private func nest<Argument: Sendable>(
        _ runs: Counter, _ next: @escaping @Sendable (Argument) -> Argument?
    ) -> Container {
        Container {
            Registration(Nest.self, lifetime: .transient) { (r, argument: Argument) in
                // So that an unnoticed recursion ends too.
                guard runs.increment() < 100, let next = next(argument) else { return Nest() }
                return Nest(try await r.resolve(Nest.self, arguments: next))
            }
        }
    }

    @Test func `with arguments that differ it goes on to its end`() async throws {
        let runs = Counter()
        let act: @Sendable () -> Void = {}
        let levels = nest(runs) { (level: Level) in
            level.number == 0 ? nil : Level(flag: level.flag, number: level.number - 1, act: level.act)
        }
        _ = try await levels.resolve(Nest.self, arguments: Level(flag: true, number: 9, act: act))
        #expect(runs.value == 10)
        let tokens = nest(runs) { (token: Token) in token.number == 0 ? nil : Token(token.number - 1) }
        _ = try await tokens.resolve(Nest.self, arguments: Token(9))
        let commands = nest(runs) { (command: Command) -> Command? in
            switch command {
            case .stop: nil
            case .go(0, _): .stop
            case .go(let number, let act): .go(number - 1, act)
            }
        }
        _ = try await commands.resolve(Nest.self, arguments: Command.go(8, act))
        let shapes = nest(runs) { (shape: any Shape) -> (any Shape)? in
            (shape as? Round).flatMap { $0.radius == 0 ? nil : Round(radius: $0.radius - 1) }
        }
        _ = try await shapes.resolve(Nest.self, arguments: Round(radius: 9) as any Shape)
        #expect(runs.value == 40)
    }

    @Test func `with the same argument it is refused at once`() async throws {
        func check<Argument: Sendable>(_ argument: Argument) async throws {
            let runs = Counter()
            let container = nest(runs) { (argument: Argument) in argument }
            await expect(.circularDependency) { try await container.resolve(Nest.self, arguments: argument) }
            #expect(runs.value == 1, "\(Argument.self)")
        }
        let captured = Token(1)
        try await check(Level(flag: true, number: 1, act: { _ = captured.number }))
        try await check(Optional(Level(flag: true, number: 1, act: {})))
        try await check(Token(1))
        try await check(Command.stop)
        try await check(Level?.none)
        try await check(Command.go(1, { _ = captured.number }))
        try await check(Edge() as any Shape)
        try await check(Round(radius: 1) as any Shape)
        try await check([{ _ = captured.number }] as [@Sendable () -> Void])
        try await check(Double.nan)
        try await check("text")
    }

    @Test func `an argument made again of the same parts is the same`() async throws {
        let runs = Counter()
        let levels = nest(runs) { (level: Level) in Level(flag: level.flag, number: level.number, act: level.act) }
        await expect(.circularDependency) {
            try await levels.resolve(Nest.self, arguments: Level(flag: true, number: 1, act: {}))
        }
        let commands = nest(runs) { (command: Command) -> Command? in
            guard case .go(let number, let act) = command else { return nil }
            return .go(number, act)
        }
        await expect(.circularDependency) { try await commands.resolve(Nest.self, arguments: Command.go(1, {})) }
        #expect(runs.value == 2)
    }

    /// When a function is passed on, it is wrapped anew each time: its identity is invisible.
    @Test func `with a function it goes on to its end, and is refused when it has none`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Nest.self, lifetime: .transient) { (r, next: @escaping @Sendable () -> Int) in
                runs.increment()
                let number = next()
                if number == 0 { return Nest() }
                if number < 0 { return Nest(try await r.resolve(Nest.self, arguments: next)) }
                return Nest(try await r.resolve(Nest.self, arguments: { @Sendable in number - 1 }))
            }
        }
        _ = try await container.resolve(Nest.self, arguments: { @Sendable in 100 })
        #expect(runs.value == 101)
        let error = await expect(.circularDependency) {
            try await container.resolve(Nest.self, arguments: { @Sendable in -1 })
        }
        #expect(error?.path.count == 2)
        #expect(runs.value == 101 + RunSearch.mostUnknown)
    }

    // MARK: Ever new scopes

    /// Each scope has a value of its own, and so the requests are not the same.
    @Test func `in scopes with other values it ends, however deep it is`() async throws {
        let container = Container()
        try await container.register(Nest.self, lifetime: .scoped) { r in
            let level = try await r.resolve(Int.self)
            if level == 1_100 { return Nest() }
            return try await container.withScope {
                Registration(instance: level + 1)
            } operation: { scope in
                Nest(try await scope.resolve(Nest.self).inner)
            }
        }
        _ = try await container.withScope {
            Registration(instance: 0)
        } operation: { scope in
            try await scope.resolve(Nest.self)
        }
        try await container.dispose()
    }

    private static let lifetimes: [Lifetime] = [
        .transient, .graph, .scoped, Lifetime("visit", ownedBy: .resolvingContainer),
    ]

    /// Lifetimes whose instances the requested container does not keep: kept ones must not hold scoped instances
    /// anyway.
    private static let unkept: [Lifetime] = [.transient, .graph]

    @Test(arguments: unkept)
    func `in scopes that a factory opens below its own container it is refused at once`(lifetime: Lifetime) async {
        let runs = Counter()
        let container = Container {
            Registration(Nest.self, lifetime: lifetime) { r in
                guard runs.increment() < 20 else { return Nest() }
                let own = try #require(r.container)
                return try await own.withScope { scope in Nest(try await scope.resolve(Nest.self)) }
            }
        }
        await expect(.circularDependency, path: ["Nest", "Nest"]) { try await container.resolve(Nest.self) }
        #expect(runs.value == 1)
        await expect(.circularDependency) {
            try await container.withScope { try await $0.resolve(Nest.self) }
        }
        #expect(runs.value == 2)
    }

    @Test(arguments: lifetimes)
    func `in scopes beside each other it is refused at once`(lifetime: Lifetime) async {
        let runs = Counter()
        let root = Locked<Container?>(nil)
        let container = Container {
            Registration(Nest.self, lifetime: lifetime) { _ in
                guard runs.increment() < 20 else { return Nest() }
                let root = try #require(root.withLock { $0 })
                return try await root.withScope { scope in Nest(try await scope.resolve(Nest.self)) }
            }
        }
        root.withLock { $0 = container }
        await expect(.circularDependency) {
            try await container.withScope { try await $0.resolve(Nest.self) }
        }
        #expect(runs.value == 1)
        root.withLock { $0 = nil }
    }

    @Test(arguments: lifetimes, lifetimes)
    func `through services of every kind it is refused at once`(first: Lifetime, second: Lifetime) async {
        let runs = Counter()
        let root = Locked<Container?>(nil)
        let container = Container {
            Registration(Nest.self, lifetime: first) { r in
                guard runs.increment() < 20 else { return Nest() }
                return Nest(try await r.resolve(Thing.self))
            }
            Registration(Thing.self, lifetime: second) { r in
                let root = try #require(root.withLock { $0 })
                try await root.withScope { scope in _ = try await scope.resolve(Nest.self) }
                return Thing()
            }
        }
        root.withLock { $0 = container }
        await expect(.circularDependency) {
            try await container.withScope { try await $0.resolve(Nest.self) }
        }
        #expect(runs.value == 1)
        root.withLock { $0 = nil }
    }

    @Test func `through multitons for ever new arguments it is refused`() async {
        let runs = Counter()
        let root = Locked<Container?>(nil)
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in
                let root = try #require(root.withLock { $0 })
                try await root.withScope { scope in _ = try await scope.resolve(String.self) }
                return Thing(number)
            }
            Registration(String.self) { r in
                let number = runs.increment()
                return number < 20 ? "\(try await r.resolve(Thing.self, arguments: number).number)" : ""
            }
        }
        root.withLock { $0 = container }
        await expect(.circularDependency) { try await container.resolve(String.self) }
        #expect(runs.value == 1)
        root.withLock { $0 = nil }
    }

    @Test func `in the hooks of a graph service it is refused`() async {
        let runs = Counter()
        let container = Container {
            Registration(Nest.self) { _ in Nest() }
                .injectProperties { r, _ in
                    guard runs.increment() < 20 else { return }
                    let own = try #require(r.container)
                    try await own.withScope { scope in _ = try await scope.resolve(Nest.self) }
                }
            Registration(Thing.self, lifetime: .transient) { r in
                _ = try await r.resolve(Nest.self)
                return Thing()
            }
        }
        await expect(.circularDependency) { try await container.resolve(Nest.self) }
        #expect(runs.value == 1)
        await expect(.circularDependency) { try await container.resolve(Thing.self) }
        #expect(runs.value == 2)
    }

    @Test(arguments: unkept)
    func `with arguments it is refused when they are the same, and goes on when they differ`(
        lifetime: Lifetime
    ) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Nest.self, lifetime: lifetime) { (r, level: Int) in
                guard runs.increment() < 20, level > 0 else { return Nest() }
                let own = try #require(r.container)
                let next = level > 100 ? level : level - 1
                return try await own.withScope { scope in Nest(try await scope.resolve(Nest.self, arguments: next)) }
            }
        }
        _ = try await container.resolve(Nest.self, arguments: 5)
        #expect(runs.value == 6)
        await expect(.circularDependency) { try await container.resolve(Nest.self, arguments: 101) }
        #expect(runs.value == 7)
    }

    @Test(arguments: unkept)
    func `a scope that registers something may end it`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, instance: 0)
            Registration(Nest.self, lifetime: lifetime) { r in
                runs.increment()
                let level = try await r.resolve(Int.self)
                guard level < 3 else { return Nest() }
                let own = try #require(r.container)
                return try await own.withScope("level") {
                    Registration(Int.self, instance: level + 1)
                } operation: { scope in
                    Nest(try await scope.resolve(Nest.self))
                }
            }
        }
        _ = try await container.resolve(Nest.self)
        #expect(runs.value == 4)
    }

    @Test(arguments: lifetimes)
    func `a request from a new scope to its parent ends there`(lifetime: Lifetime) async throws {
        let root = Locked<Container?>(nil)
        let container = Container {
            Registration(Nest.self, lifetime: lifetime) { r in
                let root = try #require(root.withLock { $0 })
                guard r.container !== root else { return Nest() }
                return Nest(try await root.resolve(Nest.self))
            }
        }
        root.withLock { $0 = container }
        let nest = try await container.withScope { try await $0.resolve(Nest.self) }
        #expect((nest.inner as? Nest)?.inner == nil && nest.inner != nil)
        root.withLock { $0 = nil }
    }

    @Test func `an instance that a scope has already is no recursion`() async throws {
        let root = Locked<Container?>(nil)
        let container = Container {
            Registration(Nest.self, lifetime: .scoped) { r in
                let root = try #require(root.withLock { $0 })
                guard let ready = await root.scope("ready"), ready !== r.container else { return Nest() }
                return Nest(try await ready.resolve(Nest.self))
            }
        }
        root.withLock { $0 = container }
        let asking = try await container.openScope("asking")
        let ready = try await container.openScope("ready")
        let inner = try await ready.resolve(Nest.self)
        #expect(try await asking.resolve(Nest.self).inner as? Nest === inner)
        root.withLock { $0 = nil }
    }

    @Test func `other services may be made in the scopes that a factory opens`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing(1) }
            Registration(String.self) { r in "\(try await r.resolve(Thing.self).number)" }
            Registration(Nest.self) { r in
                _ = try await r.resolve(String.self)
                let own = try #require(r.container)
                for _ in 0..<3 {
                    try await own.withScope { scope in
                        _ = try await scope.resolve(Thing.self)
                        _ = try await scope.withScope { try await $0.resolve(String.self) }
                    }
                }
                return try await own.withScope { Nest(try await $0.resolve(String.self)) }
            }
        }
        #expect(try await container.resolve(Nest.self).inner as? String == "1")
    }

    @Test func `a factory whose request is refused may go another way`() async throws {
        let container = Container {
            Registration(Nest.self) { r in
                let own = try #require(r.container)
                return await own.withScopeOrNil { Nest(try await $0.resolve(Nest.self)) } ?? Nest()
            }
        }
        #expect(try await container.resolve(Nest.self).inner == nil)
    }
}

extension Container {
    fileprivate nonisolated(nonsending) func withScopeOrNil(
        _ body: (Container) async throws -> Nest
    ) async -> Nest? {
        try? await withScope { try await body($0) }
    }
}
