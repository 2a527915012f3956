import Testing

@testable import AsyncDI

private struct Failure: Error, Equatable {}
private final class UnitOfWork: Sendable {}

/// Parts of an owned scope's work, one of which fails.
@Suite(.timeLimit(.minutes(10))) struct OwnedScopePartTests {
    private let ends = Log<String>()

    private func container() -> Container {
        Container(name: "app") {
            Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
                .onDispose { [ends] _, reason in
                    ends.append(reason.error is Failure ? "rolled back" : String(describing: reason.error))
                }
        }
    }

    /// The error is what ends the other part, by the cancellation of its task.
    @Test func `a part that throws beside one that leases an instance of the scope throws at once`() async throws {
        let scope = try OwnedScope(in: container())
        let reads = Gate()
        try await finishes {
            await #expect(throws: Failure()) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await scope.run { scope in
                            try await scope.withInstance(UnitOfWork.self) { _ in
                                reads.arrive()
                                try await untilCancelled()
                            }
                        }
                    }
                    group.addTask {
                        await reads.arrived()
                        try await scope.run { _ in throw Failure() }
                    }
                    while try await group.next() != nil {}
                }
            }
            await #expect(throws: ResolutionError.self) { try await scope.end() }
            #expect(ends.entries == ["rolled back"])
        }
    }

    @Test(arguments: [true, false])
    func `a part whose scope was ended under it names the failure, as do later parts`(hasHooks: Bool) async throws {
        let scope = try OwnedScope(in: container())
        let error = await expect(.disposed) {
            try await scope.run { current in
                if hasHooks { _ = try await current.resolve(UnitOfWork.self) }
                try await scope.end(failing: Failure())
            }
        }
        #expect(error?.underlying as? Failure == Failure())
        let later = await expect(.disposed) { try await scope.run { _ in } }
        #expect(later?.underlying as? Failure == Failure())
        #expect(ends.entries == (hasHooks ? ["rolled back"] : []))
    }

    @Test func `an error that holds the scope keeps nothing alive`() async throws {
        struct Holding: Error {
            let container: Container
        }
        weak var core: ContainerCore?
        do {
            let scope = try OwnedScope(in: container())
            core = scope.container.core
            await #expect(throws: Holding.self) {
                try await scope.run { scope in
                    _ = try await scope.resolve(UnitOfWork.self)
                    throw Holding(container: scope)
                }
            }
        }
        #expect(core == nil)
    }

    @Test func `a part after a failed one is refused with the failure beneath the error`() async throws {
        let scope = try OwnedScope(in: container())
        try? await scope.run { _ in throw Failure() }
        let error = await expect(.disposed) { try await scope.run { _ in } }
        #expect(error?.underlying as? Failure == Failure())
    }
}
