import Testing

@testable import AsyncDI

private protocol Store: Sendable {}
private final class Disk: Store {}
private struct Logged: Store {
    let inner: any Store
}
private final class Report: Sendable {
    let disk: Disk
    init(_ disk: Disk) { self.disk = disk }
}

/// A start that fails, beside requests that use what it has created.
@Suite(.timeLimit(.minutes(10))) struct FailedStartTests {
    /// Fails at the first attempt, when the gate opens.
    private func failing(_ mayFail: Gate, _ attempts: Counter) -> Registration<Int> {
        Registration(Int.self, lifetime: .singleton) { _ in
            await mayFail.pass()
            if attempts.increment() == 1 { throw TestError(1) }
            return 1
        }
        .eager()
    }

    @Test(arguments: [false, true])
    func `a decoration of an instance goes with it when the start fails`(isInChild: Bool) async throws {
        try await finishes {
            let (mayFail, attempts, closed) = (Gate(), Counter(), Counter())
            let container = Container {
                Registration(Disk.self, lifetime: .singleton) { _ in Disk() }.onDispose { _ in closed.increment() }
                    .eager().implements((any Store).self) { $0 }
                if !isInChild { Decoration((any Store).self) { _, inner in Logged(inner: inner) } }
                failing(mayFail, attempts)
            }
            let child = Container(parent: container) {
                if isInChild { Decoration((any Store).self) { _, inner in Logged(inner: inner) } }
            }
            let start = Task { try await container.start() }
            await mayFail.arrived()
            let first = try await container.resolve(Disk.self)
            _ = try await child.resolve((any Store).self)
            mayFail.open()
            await #expect(throws: TestError(1)) { try await start.value }
            try await container.start()
            #expect(closed.value == 1)
            let second = try await container.resolve(Disk.self)
            let store = try await child.resolve((any Store).self) as? Logged
            #expect(second !== first && store?.inner as? Disk === second)
            try await container.dispose()
            #expect(closed.value == 2)
        }
    }

    @Test func `an instance that another request's instance leases stays when the start fails`() async throws {
        try await finishes {
            let (mayFail, attempts, closed) = (Gate(), Counter(), Counter())
            let container = Container {
                Registration(Disk.self, lifetime: .multiton) { (_, _: Int) in Disk() }
                    .onDispose { _ in closed.increment() }
                Registration(String.self, lifetime: .singleton) { r in
                    _ = try await r.resolve(Disk.self, arguments: 1)
                    _ = try await r.resolve(Disk.self, arguments: 2)
                    return ""
                }
                .eager()
                Registration(Report.self, lifetime: .singleton) { r in
                    Report(try await r.lease(Disk.self, arguments: 1))
                }
                failing(mayFail, attempts)
            }
            let start = Task { try await container.start() }
            await mayFail.arrived()
            await until { container.core.withState { state in state.flights.all.count == 1 } }
            let report = try await container.resolve(Report.self)
            mayFail.open()
            await #expect(throws: TestError(1)) { try await start.value }
            #expect(closed.value == 1, "only the other one")
            try await container.start()
            #expect(try await container.resolve(Disk.self, arguments: 1) === report.disk)
            try await container.dispose()
            #expect(closed.value == 3)
        }
    }
}
