import Testing

@testable import AsyncDI

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

/// Leases of decorated instances, which hold the instances inside.
@Suite(.timeLimit(.minutes(10))) struct DecoratedLeaseTests {
    private var cables: Decoration { Decoration(Cable.self) { _, inner in Cable(around: inner) } }

    // MARK: Leases that no scope ends

    enum Levels: CaseIterable { case child, fallback, two }

    @Test(arguments: Levels.allCases)
    func `a long lease behind a decoration is told to those who would wait for its end`(_ levels: Levels) async throws {
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
}
