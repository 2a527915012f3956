import Testing

@testable import AsyncDI

/// A unit of work: committed or rolled back, once.
private final class Work: Sendable {
    private let log: Log<String>
    init(_ log: Log<String>) { self.log = log }

    func end(_ reason: DisposalReason) {
        switch reason.error {
        case nil: log.append("committed")
        case let error as ResolutionError: log.append("rolled back: \(error.code)")
        case let error?: log.append("rolled back: \(error)")
        }
    }
}

/// The reason of a disposal, as hooks receive it.
@Suite(.timeLimit(.minutes(10))) struct DisposalReasonTests {
    private let log = Log<String>()

    private func container(_ lifetime: Lifetime = .scoped) -> Container {
        Container(name: "app") {
            Registration(Work.self, lifetime: lifetime) { [log] _ in Work(log) }
                .onDispose { work, reason in work.end(reason) }
        }
    }

    /// A request whose body has done its work, and returns when the gate opens.
    private func waitingRequest(
        in container: Container, _ work: @escaping @Sendable (Container) async throws -> Void
    ) async -> (task: Task<Void, any Error>, mayEnd: Gate) {
        let mayEnd = Gate()
        let request = Task {
            try await container.withScope("request") { scope in
                try await work(scope)
                await mayEnd.pass()
            }
        }
        await mayEnd.arrived()
        return (request, mayEnd)
    }

    @Test func `a container that is disposed under a body rolls the body's work back, and the body's caller is told`()
        async throws
    {
        let container = container()
        let (request, mayEnd) = await waitingRequest(in: container) { _ = try await $0.resolve(Work.self) }
        try await container.dispose()
        #expect(log.entries == ["rolled back: disposed"])
        mayEnd.open()
        let error = await expect(.disposed) { try await request.value }
        #expect(error?.description.contains("\"request\"") == true, "it names the scope: \(String(describing: error))")
        #expect(log.entries.count == 1)
    }

    @Test(arguments: [true, false])
    func `the work of a body in a scope or a child of its scope is lost in the same way`(isScope: Bool) async throws {
        let container = container()
        // A child without a reference would end without its hooks.
        let inside = Log<Container>()
        let (request, mayEnd) = await waitingRequest(in: container) { scope in
            let inner = isScope ? try await scope.openScope("inner") : Container(parent: scope)
            inside.append(inner)
            _ = try await inner.resolve(Work.self)
        }
        try await container.dispose()
        #expect(inside.entries.count == 1)
        #expect(log.entries == ["rolled back: disposed"])
        mayEnd.open()
        await expect(.disposed) { try await request.value }
    }

    @Test func `work that has ended by itself is not lost when a scope around it is disposed meanwhile`() async throws {
        let mayCommit = Gate()
        let container = Container {
            Registration(Work.self, lifetime: .scoped) { [log] _ in Work(log) }
                .onDispose { work, reason in
                    await mayCommit.pass()
                    work.end(reason)
                }
        }
        let scopes = Log<Container>()
        let request = Task {
            try await container.withScope { scope in
                scopes.append(scope)
                try await scope.withScope { inner in _ = try await inner.resolve(Work.self) }
            }
        }
        await mayCommit.arrived()
        let outer = scopes.entries[0]
        let disposal = Task { try await outer.dispose() }
        await until { outer.table.isClosed }
        mayCommit.open()
        try await request.value
        try await disposal.value
        #expect(log.entries == ["committed"])
    }

    @Test func `the error of a roll-back belongs to the call that caused it`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _ in throw TestError(1) }
        }
        let (request, mayEnd) = await waitingRequest(in: container) { _ = try await $0.resolve(Thing.self) }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose() }
        #expect(error?.errors.count == 1 && error?.errors.first as? TestError == TestError(1))
        mayEnd.open()
        await expect(.disposed) { try await request.value }
    }

    @Test func `a scope that is disposed by another task under its body rolls back`() async throws {
        let container = container()
        let scopes = Log<Container>()
        let (request, mayEnd) = await waitingRequest(in: container) { scope in
            scopes.append(scope)
            _ = try await scope.resolve(Work.self)
        }
        try await scopes.entries[0].dispose()
        #expect(log.entries == ["rolled back: disposed"])
        mayEnd.open()
        await expect(.disposed) { try await request.value }
    }

    @Test func `a body whose scope was disposed under it, but had no hooks to run, returns`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        let value = try await container.withScope { scope in
            _ = try await scope.resolve(Thing.self)
            try await container.dispose()
            return 7
        }
        #expect(value == 7)
    }

    @Test func `a body that throws after its scope was disposed under it throws its own error`() async throws {
        let container = container()
        await #expect(throws: TestError(5)) {
            try await container.withScope { scope in
                _ = try await scope.resolve(Work.self)
                try await scope.dispose()
                throw TestError(5)
            }
        }
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `a scope opened by hand commits when its owner disposes it`() async throws {
        let scope = try await container().openScope("import")
        _ = try await scope.resolve(Work.self)
        try await scope.dispose()
        #expect(log.entries == ["committed"])
    }

    @Test func `a scope opened by hand rolls back for the error that its owner gives`() async throws {
        let scope = try await container().openScope("import")
        _ = try await scope.resolve(Work.self)
        try await scope.dispose(failing: TestError(3))
        #expect(log.entries == ["rolled back: TestError(number: 3)"])
        try await scope.dispose()
        #expect(log.entries.count == 1)
    }

    @Test func `a scope opened by hand rolls back when the container above is disposed`() async throws {
        let container = container()
        _ = try await container.openScope("session").resolve(Work.self)
        try await container.dispose()
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `a scope opened by hand and dropped rolls back with the container above`() async throws {
        let container = container()
        do { _ = try await container.openScope().resolve(Work.self) }
        try await container.dispose()
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `a child container rolls back when its parent is disposed`() async throws {
        let parent = Container()
        let child = Container(parent: parent) {
            Registration(Work.self, lifetime: .singleton) { [log] _ in Work(log) }
                .onDispose { work, reason in work.end(reason) }
        }
        _ = try await child.resolve(Work.self)
        try await parent.dispose()
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `a container's own instances commit when it is disposed`() async throws {
        let container = container(.singleton)
        _ = try await container.resolve(Work.self)
        try await container.dispose()
        #expect(log.entries == ["committed"])
    }

    @Test func `scopes inside a body see the body's error`() async throws {
        let container = container()
        await #expect(throws: TestError(8)) {
            try await container.withScope { scope in
                _ = try await scope.openScope().resolve(Work.self)
                throw TestError(8)
            }
        }
        #expect(log.entries == ["rolled back: TestError(number: 8)"])
    }

    @Test func `a scope that a body opened by hand and left open rolls back when the body returns`() async throws {
        let container = container()
        try await container.withScope { scope in _ = try await scope.openScope().resolve(Work.self) }
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `an owned scope whose owner goes rolls back`() async throws {
        let container = container()
        do {
            let owned = try OwnedScope(in: container, name: "screen")
            _ = try await owned.container.resolve(Work.self)
        }
        try await container.dispose()
        #expect(log.entries == ["rolled back: disposed"])
    }

    @Test func `an instance whose creation fails after its factory rolls back for that error`() async throws {
        let container = Container {
            Registration(Work.self, lifetime: .singleton) { [log] _ in Work(log) }
                .onCreate { _, _ in throw TestError(6) }
                .onDispose { work, reason in work.end(reason) }
        }
        await #expect(throws: TestError(6)) { try await container.resolve(Work.self) }
        try await container.dispose()
        #expect(log.entries == ["rolled back: TestError(number: 6)"])
    }

    @Test func `an instance that no request got because its container was disposed rolls back`() async throws {
        let mayEnd = Gate()
        let container = Container {
            Registration(Work.self, lifetime: .singleton) { [log] _ in
                await mayEnd.pass()
                return Work(log)
            }
            .onDispose { work, reason in work.end(reason) }
        }
        let request = Task { try await container.resolve(Work.self) }
        await mayEnd.arrived()
        let disposal = Task { try await container.dispose() }
        await expect(.disposed) { _ = try await request.value }
        mayEnd.open()
        try await disposal.value
        #expect(log.entries == ["rolled back: disposed"])
    }

    // MARK: Errors of hooks

    @Test func `one error of one hook is thrown unchanged by withScope, several come together`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .scoped) { _ in 1 }.onDispose { _ in throw TestError(1) }
            Registration(String.self, lifetime: .scoped) { _ in "" }.onDispose { _ in throw TestError(2) }
        }
        await #expect(throws: TestError(1)) { try await container.withScope { _ = try await $0.resolve(Int.self) } }
        let error = await #expect(throws: DisposalError.self) {
            try await container.withScope {
                _ = try await $0.resolve(Int.self)
                _ = try await $0.resolve(String.self)
            }
        }
        #expect(error?.errors.count == 2)
    }

    @Test func `an instance that is completed after its body has thrown gets the body's error`() async throws {
        struct Failure: Error {}
        let (log, begun, gate) = (log, Gate(), Gate())
        let container = Container(name: "app") {
            Registration(Work.self, lifetime: .scoped) { _ in
                // The disposal of the scope cancels it.
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    gate.open()
                }
                return Work(log)
            }
            .onDispose { work, reason in work.end(reason) }
        }
        await #expect(throws: Failure.self) {
            try await container.withScope("request") { scope in
                Task { [begun] in
                    begun.arrive()
                    _ = try? await scope.resolve(Work.self)
                }
                await begun.arrived()
                await gate.arrived()
                throw Failure()
            }
        }
        #expect(log.entries == ["rolled back: Failure()"])
    }
}
