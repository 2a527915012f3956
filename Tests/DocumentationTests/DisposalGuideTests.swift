import AsyncDI
import Testing

/// The guide "Disposal", run.
@Suite(.timeLimit(.minutes(10)))
struct DisposalGuideTests {
    @Test func `a hook, and dispose`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
                .onDispose { database in try await database.close() }
        }
        let database = try await container.resolve(Database.self)
        try await container.dispose()
        #expect(await database.isClosed)
        try await container.dispose()
    }

    @Test func `a deadline names the hook that has not ended`() async throws {
        let closing = Gate()
        let mayClose = Gate()
        let container = Container(name: "app", clock: DeadlineClock(passes: closing)) {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
                .onDispose { _ in
                    closing.open()
                    await mayClose.passed()
                }
        }
        _ = try await container.resolve(Database.self)
        do {
            try await container.dispose(deadline: .seconds(10))
        } catch let error as DisposalError {
            print(error)  // names what had not ended by then
        }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose(deadline: .seconds(10)) }
        try Guide("Disposal").shows(error?.errors.first as? ResolutionError)
        mayClose.open()
        try await container.dispose()
    }

    @Test func `how the scope ended`() async throws {
        let ends = Ends()
        let container = Container {
            Registration(instance: ends)
            Registration(using: UnitOfWork.init, lifetime: .scoped)
                .onDispose { work, reason in
                    if reason.error == nil { try await work.commit() } else { await work.rollBack() }
                }
        }
        try await container.withScope { scope in _ = try await scope.resolve(UnitOfWork.self) }
        await #expect(throws: CancellationError.self) {
            try await container.withScope { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                throw CancellationError()
            }
        }
        #expect(await ends.list == ["committed", "rolled back"])
        let session = try await container.openScope("session")
        try await edit(in: session)
        try await session.dispose(failing: SignedOut())  // instead of dispose(), which commits
        #expect(await ends.list == ["committed", "rolled back", "rolled back"])
        try await session.dispose()

        let scope = try OwnedScope(in: container, name: "import", isDrained: true)
        try await scope.run { scope in try await readRows(in: scope) }
        try await scope.finish { scope in try await writeRows(in: scope) }  // commits, or throws
        #expect(await ends.list.last == "committed")

        let lost = try OwnedScope(in: container, name: "import", isDrained: true)
        try await lost.run { scope in try await readRows(in: scope) }
        try await container.dispose()
        await #expect {
            try await lost.finish { scope in try await writeRows(in: scope) }
        } throws: {
            ResolutionError.Code.disposed ~= $0
        }
        #expect(await ends.list.last == "rolled back")
    }

    private struct SignedOut: Error {}

    private func edit(in scope: Container) async throws { _ = try await scope.resolve(UnitOfWork.self) }
    private func readRows(in scope: Container) async throws { _ = try await scope.resolve(UnitOfWork.self) }
    private func writeRows(in scope: Container) async throws { _ = try await scope.resolve(UnitOfWork.self) }

    @Test func `draining`() async throws {
        let container = Container {
            Registration(TenantPool.self, lifetime: .multiton) { (_, name: String) in TenantPool(name: name) }
        }
        _ = try await container.resolve(TenantPool.self, arguments: "acme")
        try await container.drain(TenantPool.self, arguments: "acme", deadline: .seconds(30))
        #expect(await container.cachedArguments(of: TenantPool.self, String.self).isEmpty)
        try await container.drain(deadline: .seconds(8))
    }

    private struct TenantPool: Sendable {
        let name: String
    }

    actor Database {
        private(set) var isClosed = false

        static func open(_ path: String) async throws -> Database { Database() }
        func close() throws { isClosed = true }
    }

    actor Ends {
        private(set) var list: [String] = []

        func note(_ end: String) { list.append(end) }
    }

    struct UnitOfWork: Sendable {
        private let ends: Ends

        init(_ ends: Ends) { self.ends = ends }
        func commit() async throws { await ends.note("committed") }
        func rollBack() async { await ends.note("rolled back") }
    }
}

/// A clock on which a deadline passes when a gate opens.
private struct DeadlineClock: Clock {
    let passes: Gate
    let minimumResolution = Duration.zero
    var now: ContinuousClock.Instant { ContinuousClock().now }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { await passes.passed() }
}
