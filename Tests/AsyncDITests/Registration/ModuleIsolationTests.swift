import Testing

@testable import AsyncDI

/// Notes where its registrations are evaluated.
private struct Evaluated: Module {
    let isOnCallersActor: Locked<[Bool]>
    var registrations: Registrations {
        isOnCallersActor.withLock { $0.append(MarkedActor.isHere) }
        return Registrations { Registration(instance: 7) }
    }
}

/// User code does not run on the container's executor.
@Suite(.timeLimit(.minutes(10))) @MarkedActor struct ModuleIsolationTests {
    @Test func `the registrations of a late module are evaluated on the caller's actor`() async throws {
        let (module, container) = (Evaluated(isOnCallersActor: Locked([])), Container())
        try await container.register(module)
        try await container.register { module }
        try await container += module
        #expect(module.isOnCallersActor.withLock { $0 } == [true, true, true])
    }
}
