import AsyncDI
import Testing

/// Forwarded types that are decorated where they are inherited, or after a change of the service behind them.
@Suite(.timeLimit(.minutes(10))) struct DecoratedAliasTests {
    private static func registration(_ lifetime: Lifetime) -> Registration<Cable> {
        Registration(Cable.self, lifetime: lifetime) { (_, _: String) in Cable() }
            .onDispose { $0.close() }
            .implements((any Line).self) { $0 }
    }

    private var decoration: Decoration { Decoration((any Line).self) { _, inner in Cable(around: inner) } }

    enum Change: CaseIterable {
        case reset, resetOfOne, resetOfForwarded, resetOfLifetime, drain, replacement, decoration

        fileprivate func perform(in container: Container, _ lifetime: Lifetime) async throws {
            switch self {
            case .reset: try await container.reset(Cable.self)
            case .resetOfOne: try await container.reset(Cable.self, arguments: "a")
            case .resetOfForwarded: try await container.reset((any Line).self)
            case .resetOfLifetime: try await container.reset(lifetime)
            case .drain: try await container.drain(Cable.self, arguments: "a")
            case .replacement: try await container.register(DecoratedAliasTests.registration(lifetime))
            case .decoration: try await container.decorate(Cable.self) { _, inner in Cable(around: inner) }
            }
        }
    }

    @Test(arguments: Change.allCases, [Lifetime.singleton, .multiton(capacity: 2), Lifetime("login")])
    func `a child's decoration of a forwarded type follows the service behind it`(
        _ change: Change, _ lifetime: Lifetime
    ) async throws {
        let root = Container { Self.registration(lifetime) }
        let child = Container(parent: root) { decoration }
        let old = try await child.resolve((any Line).self, arguments: "a")
        try await change.perform(in: root, lifetime)
        // A multiton's new instance would wait for a lease that the old wrapper still holds.
        _ = try await root.resolve(Cable.self, arguments: "a")
        let new = try await child.resolve((any Line).self, arguments: "a")
        #expect(new as AnyObject !== old as AnyObject)
        #expect(new.isOpen)
        try await root.dispose()
        #expect(!old.isOpen && !new.isOpen)
    }

    @Test(arguments: Change.allCases)
    func `a scope's decoration follows the service through another decoration`(_ change: Change) async throws {
        let root = Container { Self.registration(.singleton) }
        let child = Container(parent: root) { decoration }
        try await child.withScope {
            decoration
        } operation: { scope in
            let old = try await scope.resolve((any Line).self, arguments: "a")
            try await change.perform(in: root, .singleton)
            let new = try await scope.resolve((any Line).self, arguments: "a")
            #expect(new as AnyObject !== old as AnyObject)
            #expect(new.isOpen)
        }
    }

    @Test(arguments: [Change.reset, .resetOfOne, .resetOfForwarded, .resetOfLifetime])
    func `a scope that decorates a forwarded type resets the scoped service behind it`(_ change: Change) async throws {
        let root = Container { Self.registration(.scoped) }
        try await root.withScope {
            decoration
        } operation: { scope in
            let old = try await scope.resolve((any Line).self, arguments: "a")
            try await change.perform(in: scope, .scoped)
            let new = try await scope.resolve((any Line).self, arguments: "a")
            #expect(new as AnyObject !== old as AnyObject)
            #expect(new.isOpen)
        }
    }

    @Test func `an instance that is decorated several times is evicted once`() async throws {
        let root = Container { Self.registration(.multiton) }
        let observer = RecordingObserver()
        let child = Container(parent: root, observers: [observer]) {
            decoration
            decoration
        }
        _ = try await child.resolve((any Line).self, arguments: "a")
        try await child.reset(Cable.self, arguments: "a")
        await child.deliverEvents()
        #expect(observer.events.count { if case .evicted = $0 { true } else { false } } == 1)
        try await root.dispose()
    }

    // MARK: Lifetimes

    enum Order: CaseIterable { case decoratedBefore, decoratedAfter, decoratedBelow, registeredTwice }

    @Test(
        arguments: [
            (Lifetime.singleton, Lifetime.scoped), (.scoped, .singleton), (.transient, .singleton),
            (.singleton, .transient), (.multiton, .scoped), (.graph, .multiton(capacity: 2)),
        ], Order.allCases)
    func `a decorated forwarded type has the lifetime of the present service`(
        _ lifetimes: (old: Lifetime, new: Lifetime), _ order: Order
    ) async throws {
        let old = Registration(Cable.self, lifetime: lifetimes.old) { (_, _: String) in Cable() }
            .implements((any Line).self) { $0 }
        let new = Registration(Cable.self, lifetime: lifetimes.new) { (_, _: String) in Cable() }
        let root = Container { old }
        var asked = root
        switch order {
        case .decoratedBefore:
            try await root.register { decoration }
            try await root.register(new)
        case .decoratedAfter:
            try await root.register(new)
            try await root.register { decoration }
        case .decoratedBelow:
            asked = Container(parent: root) { decoration }
            try await root.register(new)
        case .registeredTwice:
            asked = Container {
                old
                new
                decoration
            }
        }
        func line(in container: Container) async throws -> any Line {
            let line = try await container.resolve((any Line).self, arguments: "a")
            #expect((line as? Cable)?.inner != nil)
            return line
        }
        let first = try await line(in: asked)
        #expect(try await (line(in: asked) as AnyObject === first as AnyObject) == lifetimes.new.isShared)
        try await asked.withScope { scope in
            let scoped = try await line(in: scope)
            #expect(try await (line(in: scope) as AnyObject === scoped as AnyObject) == lifetimes.new.isShared)
            let isSharedBelow = lifetimes.new.isShared && lifetimes.new != .scoped
            #expect((scoped as AnyObject === first as AnyObject) == isSharedBelow)
        }
    }

    @Test func `an argument of a decorated forwarded type is listed once`() async throws {
        let container = Container {
            Registration(Cable.self, lifetime: .multiton) { (_, _: String) in Cable() }
                .implements((any Line).self) { $0 }
            decoration
        }
        _ = try await container.resolve((any Line).self, arguments: "a")
        _ = try await container.resolve(Cable.self, arguments: "b")
        #expect(await container.cachedArguments(of: (any Line).self, String.self).sorted() == ["a", "b"])
    }

    @Test func `a decorated forwarded type distinguishes arguments as the present service does`() async throws {
        let container = Container {
            Registration(Cable.self, lifetime: .multiton) { (_, _: String) in Cable() }
                .implements((any Line).self) { $0 }
            decoration
        }
        try await container.register(Cable.self, lifetime: .multiton, keyedBy: { (text: String) in text.count }) {
            (_, _: String) in Cable()
        }
        let first = try await container.resolve((any Line).self, arguments: "a")
        #expect(try await container.resolve((any Line).self, arguments: "b") as AnyObject === first as AnyObject)
        #expect(try await container.resolve((any Line).self, arguments: "cc") as AnyObject !== first as AnyObject)
    }
}

extension Lifetime {
    fileprivate var isShared: Bool { self != .transient && self != .graph }
}
