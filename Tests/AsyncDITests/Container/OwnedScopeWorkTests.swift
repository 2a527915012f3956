import Testing

@testable import AsyncDI

/// Work in a scope that lasts longer than the function which opened it: a response that is still being written.
@Suite(.timeLimit(.minutes(10))) struct OwnedScopeWorkTests {
    private struct Failure: Error, Equatable {
        var name = "work"
    }

    /// How units of work ended.
    private final class Ends: Sendable {
        private let list = Locked<[String]>([])
        let hasOne = Gate()
        var all: [String] { list.withLock { $0 } }

        func add(_ end: String) {
            list.withLock { $0.append(end) }
            hasOne.open()
        }
    }

    private final class UnitOfWork: Sendable {}

    private let ends = Ends()

    private func container(failingToCommit: Bool = false) -> Container {
        Container(name: "app") {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
                .onDispose { [ends] _, reason in
                    switch reason.error {
                    case nil where failingToCommit: throw Failure(name: "commit")
                    case nil: ends.add("committed")
                    case let error as Failure: ends.add("rolled back after \(error.name)")
                    case let error as ResolutionError: ends.add("rolled back, \(error.code)")
                    case let error?: ends.add("rolled back, \(error)")
                    }
                }
        }
    }

    @Test func `each part runs in the scope, and the last one commits`() async throws {
        let container = container()
        let scope = try OwnedScope(in: container, name: "request")
        let first = try await scope.run { current in
            #expect(Container.current === current && current === scope.container)
            return try await resolve(UnitOfWork.self)
        }
        #expect(ends.all.isEmpty && Container.current == nil)
        let last = try await scope.finish { try await $0.resolve(UnitOfWork.self) }
        #expect(first === last)
        #expect(ends.all == ["committed"])
        await expect(.disposed) { try await scope.run { _ in } }
        try await container.dispose()
    }

    @Test func `a part that throws rolls back, and the rest is not run`() async throws {
        let scope = try OwnedScope(in: container())
        await #expect(throws: Failure()) {
            try await scope.run { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                throw Failure()
            }
        }
        #expect(ends.all == ["rolled back after work"])
        await #expect(throws: ResolutionError.self) {
            try await scope.finish { _ in Issue.record("it runs") }
        }
    }

    @Test func `a scope that is dropped rolls back`() async throws {
        let container = container()
        do {
            let scope = try OwnedScope(in: container)
            try await scope.run { _ = try await $0.resolve(UnitOfWork.self) }
        }
        await ends.hasOne.pass()
        #expect(ends.all == ["rolled back, disposed"])
        try await container.dispose()
    }

    @Test func `the error of a commit is the caller's, as it is`() async throws {
        let scope = try OwnedScope(in: container(failingToCommit: true))
        await #expect(throws: Failure(name: "commit")) {
            try await scope.finish { _ = try await $0.resolve(UnitOfWork.self) }
        }
    }

    @Test func `a scope can be ended with an error of its owner`() async throws {
        let scope = try OwnedScope(in: container())
        _ = try await scope.container.resolve(UnitOfWork.self)
        try await scope.end(failing: Failure(name: "client"))
        #expect(ends.all == ["rolled back after client"])
    }

    @Test func `a drain waits for a scope that is drained, which goes on undisturbed`() async throws {
        let container = container()
        let scope = try OwnedScope(in: container, isDrained: true)
        let drain = Task { try await container.drain() }
        while !container.core.table.isDraining { await Task.yield() }
        try await scope.finish { _ = try await $0.resolve(UnitOfWork.self) }
        try await drain.value
        #expect(ends.all == ["committed"])
    }

    @Test func `a drain ends other scopes at once`() async throws {
        let container = container()
        let scope = try OwnedScope(in: container)
        _ = try await scope.container.resolve(UnitOfWork.self)
        try await container.drain()
        #expect(ends.all == ["rolled back, disposed"])
    }

    @Test func `a drained scope that is dropped ends the drain`() async throws {
        let container = container()
        var scope: OwnedScope? = try OwnedScope(in: container, isDrained: true)
        _ = try await scope?.container.resolve(UnitOfWork.self)
        let drain = Task { try await container.drain() }
        while !container.core.table.isDraining { await Task.yield() }
        scope = nil
        try await drain.value
        #expect(ends.all == ["rolled back, disposed"])
    }

    @Test func `work beside a part that failed is lost, and so is the end`() async throws {
        let scope = try OwnedScope(in: container())
        let mayGoOn = Gate()
        let other = Task {
            try await scope.run { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                await mayGoOn.pass()
            }
        }
        await mayGoOn.arrived()
        await #expect(throws: Failure()) { try await scope.run { _ in throw Failure() } }
        mayGoOn.open()
        await expect(.disposed) { try await other.value }
        await expect(.disposed) { try await scope.end() }
        #expect(ends.all == ["rolled back after work"])
    }

    @Test func `the end is refused while a part is under way`() async throws {
        let scope = try OwnedScope(in: container())
        await expect(.invalidOperation) {
            try await scope.run { current in
                _ = try await current.resolve(UnitOfWork.self)
                try await scope.end()
            }
        }
        // An error of the part like others.
        #expect(ends.all == ["rolled back, \(ResolutionError.Code.invalidOperation)"])
    }

    @Test func `of two last parts the later one ends the scope`() async throws {
        let scope = try OwnedScope(in: container())
        let mayGoOn = Gate()
        let later = Task {
            try await scope.finish { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                await mayGoOn.pass()
                return 1
            }
        }
        await mayGoOn.arrived()
        await expect(.invalidOperation) { try await scope.finish { _ in } }
        #expect(ends.all.isEmpty)
        mayGoOn.open()
        #expect(try await later.value == 1)
        #expect(ends.all == ["committed"])
    }

    @Test func `every end of a scope whose commit failed throws that`() async throws {
        let scope = try OwnedScope(in: container(failingToCommit: true))
        _ = try await scope.container.resolve(UnitOfWork.self)
        for _ in 0..<3 { await #expect(throws: Failure(name: "commit")) { try await scope.end() } }
    }

    @Test func `a part that fails inside a lease of the scope ends the scope after the lease`() async throws {
        let scope = try OwnedScope(in: container())
        await #expect(throws: Failure()) {
            try await scope.container.withInstance(UnitOfWork.self) { _ in
                try await scope.run { _ in throw Failure() }
            }
        }
        await ends.hasOne.pass()
        #expect(ends.all == ["rolled back after work"])
    }

    @Test func `an end that is refused, inside a lease of the scope, may be tried again`() async throws {
        let scope = try OwnedScope(in: container())
        await expect(.invalidOperation) {
            try await scope.container.withInstance(UnitOfWork.self) { _ in try await scope.end() }
        }
        #expect(ends.all.isEmpty)
        try await scope.run { _ in }
        try await scope.end()
        #expect(ends.all == ["committed"])
    }

    @Test func `a drain in the work of a scope is refused, also inside the body of another one`() async throws {
        let container = container()
        await expect(.invalidOperation) {
            try await container.withScope { _ in
                let scope = try OwnedScope(in: container)
                try await scope.run { _ in try await container.drain() }
            }
        }
        try await container.dispose()
    }

    @Test(arguments: [true, false])
    func `work whose scope was disposed under it is reported as lost`(isDrained: Bool) async throws {
        let container = container()
        let scope = try OwnedScope(in: container, isDrained: isDrained)
        await expect(.disposed) {
            try await scope.finish { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                try await container.dispose()
            }
        }
        #expect(ends.all == ["rolled back, disposed"])
    }

    @Test func `no scope is opened in a container that is disposed`() async throws {
        let container = container()
        try await container.dispose()
        await expect(.disposed) { try OwnedScope(in: container) }
    }

    @Test func `an end that meets a failing end knows that its work is lost`() async throws {
        let container = container()
        let scope = try OwnedScope(in: container)
        try await scope.run { scope in _ = try await scope.resolve(UnitOfWork.self) }
        // The failing end comes after the other one has begun, and before the disposal.
        try await scope.container.core.dispose(reason: DisposalReason(error: Failure()), isEndOfBody: true)
        await expect(.disposed) { try await scope.end() }
        #expect(ends.all == ["rolled back after work"])
        try await container.dispose()
    }

    @Test func `a failing end after the end changes nothing`() async throws {
        let container = container()
        let scope = try OwnedScope(in: container)
        try await scope.run { scope in _ = try await scope.resolve(UnitOfWork.self) }
        try await scope.end()
        try await scope.end(failing: Failure())
        try await scope.end()
        #expect(ends.all == ["committed"])
        try await container.dispose()
    }

    @Test func `a part whose work is lost returns after its rollback`() async throws {
        let mayRollBack = Gate()
        let container = Container {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
                .onDispose { [ends] _, _ in
                    await mayRollBack.pass()
                    ends.add("rolled back")
                }
        }
        let scope = try OwnedScope(in: container)
        let disposal = Locked<Task<Void, any Error>?>(nil)
        let part = Task { [ends] in
            do {
                try await scope.run { part in
                    _ = try await part.resolve(UnitOfWork.self)
                    disposal.withLock { $0 = Task.detached { try await container.dispose() } }
                    await mayRollBack.arrived()
                }
            } catch ResolutionError.Code.disposed {
                ends.add("the part is told")
            }
        }
        await mayRollBack.arrived()
        for _ in 0..<100 { await Task.yield() }
        mayRollBack.open()
        try await part.value
        #expect(ends.all == ["rolled back", "the part is told"])
        try await disposal.withLock { $0 }?.value
    }

    enum LostPart: CaseIterable { case refused, cutShort, none }

    @Test(arguments: LostPart.allCases)
    func `the end of work of which a part was lost is an error, also without hooks`(part: LostPart) async throws {
        let container = Container()
        let scope = try OwnedScope(in: container)
        if part != .cutShort { try await container.dispose() }
        if part != .none {
            await expect(.disposed) {
                try await scope.run { _ in if part == .cutShort { try await container.dispose() } }
            }
            await expect(.disposed) { try await scope.end() }
        }
        // Nothing was lost without a part, and a part after the end is refused alone.
        if part == .none {
            try await scope.end()
            await expect(.disposed) { try await scope.run { _ in } }
            try await scope.end()
        }
    }

    // MARK: Waits for itself

    private final class Pool: Sendable {}
    private final class Session: Sendable {
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
    }

    enum Wait: CaseIterable { case drain, otherContainer, otherScope }

    @Test(arguments: Wait.allCases, [false, true])
    func `work that waits for the end of a lease of its own scope gets an error`(
        wait: Wait, isDrained: Bool
    ) async throws {
        try await finishes {
            let container = Container(name: "app") {
                Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }.onDispose { _ in }
                Registration(Session.self, lifetime: .scoped) { r in
                    Session(try await r.lease(Pool.self, arguments: "a"))
                }
            }
            let scope = try OwnedScope(in: container, isDrained: isDrained)
            await expect(wait == .drain ? .invalidOperation : .circularDependency) {
                try await scope.finish { part in
                    _ = try await part.resolve(Session.self)
                    switch wait {
                    case .drain:
                        try await container.drain(Pool.self, arguments: "a")
                    case .otherContainer:
                        try await container.reset(Pool.self)
                        _ = try await Container(fallbacks: [container]).resolve(Pool.self, arguments: "a")
                    case .otherScope:
                        try await container.reset(Pool.self)
                        try await container.withScope { _ = try await $0.resolve(Pool.self, arguments: "a") }
                    }
                }
            }
            _ = try await container.resolve(Pool.self, arguments: "a")
            try await container.dispose()
        }
    }
}
