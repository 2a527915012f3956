import Testing

@testable import AsyncDI

private protocol Duct: Sendable {}
private final class Pool: Duct {}
private struct Logged: Duct {
    let inner: any Duct
}
private final class Session: Duct {
    let line: any Duct
    init(_ line: any Duct) { self.line = line }
}
private final class Report: Sendable {
    let pool: Pool
    init(_ pool: Pool) { self.pool = pool }
}

/// Leases that end later than was known to the requests which wait for their end: the instance that holds them is itself
/// leased when it is dropped.
@Suite(.timeLimit(.minutes(10))) struct LaterEndTests {
    enum End: CaseIterable { case reset, disposal, failure }
    /// The way from the session's lease to the pool.
    enum Way: CaseIterable { case direct, decoration, otherSession }

    private func container(_ way: Way, reportMayBegin: Gate) -> Container {
        Container(name: "app") {
            Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }.onDispose { _ in }
                .implements((any Duct).self) { $0 }
            if way == .decoration { Decoration((any Duct).self) { _, inner in Logged(inner: inner) } }
            Registration(Session.self, qualifier: "other", lifetime: .scoped) { r in
                Session(try await r.lease(Pool.self, arguments: 1))
            }
            .onDispose { _ in }
            Registration(Session.self, lifetime: .scoped) { r in
                switch way {
                case .direct: Session(try await r.lease(Pool.self, arguments: 1))
                case .decoration: Session(try await r.lease((any Duct).self, arguments: 1))
                case .otherSession: Session(try await r.lease(Session.self, qualifier: "other"))
                }
            }
            .onDispose { _ in }
            Registration(Report.self, lifetime: .singleton) { r in
                await reportMayBegin.pass()
                return Report(try await r.lease(Pool.self, arguments: 1))
            }
        }
    }

    @Test(arguments: End.allCases, Way.allCases)
    func `a body that waits for the end of its own instance's lease gets an error`(end: End, way: Way) async throws {
        try await finishes {
            let reportMayBegin = Gate()
            let container = container(way, reportMayBegin: reportMayBegin)
            let owned = try OwnedScope(in: container, name: "owned")
            let scope = owned.container
            let body = Task {
                try await scope.withInstance(Session.self) { _ in
                    _ = try await scope.resolve(Report.self)
                }
            }
            await reportMayBegin.arrived()
            // Held by the session, which nothing has dropped: an end of the lease may come.
            try await container.reset(Pool.self, arguments: 1)
            if way == .otherSession { try await scope.reset(Session.self, qualifier: "other") }
            reportMayBegin.open()
            await until { container.core.waiterCount(of: Pool.self) == 1 }
            let ending = Task {
                switch end {
                case .reset: try await scope.reset(Session.self)
                case .disposal: try await scope.dispose()
                case .failure: try await owned.end(failing: TestError())
                }
            }
            await expect(.circularDependency) { try await body.value }
            try await ending.value
            _ = try await container.resolve(Report.self)
            try await container.dispose()
        }
    }

    @Test(arguments: [Way.direct, .decoration])
    func `a drain that its own body keeps waiting is refused with one error`(way: Way) async throws {
        try await finishes {
            let container = container(way, reportMayBegin: Gate())
            let scope = try await container.openScope()
            let body = Task {
                try await scope.withInstance(Session.self) { _ in
                    try await container.drain(Pool.self, arguments: 1)
                }
            }
            await until { container.core.withState { $0.leases.all.contains { !$0.pending.isEmpty } } }
            try await scope.reset(Session.self)
            await expect(.invalidOperation) { try await body.value }
            try await container.dispose()
        }
    }
}
