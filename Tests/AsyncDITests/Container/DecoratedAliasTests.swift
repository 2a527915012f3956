import AsyncDI
import Testing

private protocol Line: Sendable {
    var isOpen: Bool { get }
}
private final class Cable: Line {
    private let closed = Log<Bool>()
    let inner: (any Line)?
    init(around inner: (any Line)? = nil) { self.inner = inner }
    func close() { closed.append(true) }
    var isOpen: Bool { closed.entries.isEmpty && inner?.isOpen != false }
}

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
    func `so does a scope's, around the decoration of a container between them`(_ change: Change) async throws {
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
}
