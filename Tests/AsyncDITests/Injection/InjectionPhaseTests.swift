import Testing

@testable import AsyncDI

@Suite(.timeLimit(.minutes(10)))
struct InjectionPhaseTests {
    private let first = Thing()
    private let second = Thing()

    @Test func `a view that is shown again does not load again, another container does`() {
        var loading = InjectionLoading<Int>()
        #expect(loading.begin(asking: ObjectIdentifier(first)) == .resolve(attempt: 1))
        #expect(loading.begin(asking: ObjectIdentifier(first)) == .none)
        loading.finish(attempt: 1, .success(7))
        #expect(loading.phase.service == 7)
        #expect(loading.begin(asking: ObjectIdentifier(first)) == .none)
        #expect(loading.begin(asking: ObjectIdentifier(second)) == .resolve(attempt: 2))
        #expect(loading.phase.service == nil)
        #expect(loading.begin(asking: nil) == .resolve(attempt: 3))
    }

    @Test func `what was overtaken is ignored`() {
        var loading = InjectionLoading<Int>()
        _ = loading.begin(asking: ObjectIdentifier(first))
        _ = loading.begin(asking: ObjectIdentifier(second))
        loading.finish(attempt: 1, .success(1))
        #expect(loading.phase.service == nil)
        loading.finish(attempt: 2, .success(2))
        loading.finish(attempt: 1, .failure(TestError(1)))
        #expect(loading.phase.service == 2)
    }

    @Test func `an error is shown until somebody asks again`() {
        var loading = InjectionLoading<Int>()
        _ = loading.begin(asking: nil)
        loading.finish(attempt: 1, .failure(TestError(4)))
        #expect(loading.phase.error as? TestError == TestError(4))
        #expect(loading.begin(asking: nil) == .none)
        #expect(loading.retry() == .resolve(attempt: 2))
        #expect(loading.phase.error == nil)
    }

    @Test func `a cancelled attempt is no failure`() {
        var loading = InjectionLoading<Int>()
        _ = loading.begin(asking: nil)
        loading.finish(attempt: 1, .failure(CancellationError()))
        #expect(loading.phase.error == nil)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ScopeHolderTests {
    @Test func `a held scope is open until its task is cancelled, and disposed then`() async throws {
        let disposed = Gate()
        let handed = Log<Bool>()
        let opened = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _ in disposed.arrive() }
        }
        let view = Task {
            try await container.holdScope(registrations: { Registrations { Registration(Int.self, instance: 5) } }) {
                scope in
                handed.append(scope != nil)
                if let scope {
                    Task {
                        _ = try await scope.resolve(Thing.self)
                        #expect(try scope.ready(Int.self) == 5)
                        opened.arrive()
                    }
                }
            }
        }
        await opened.arrived()
        #expect(disposed.arrivals == 0)
        view.cancel()
        try await view.value
        #expect(handed.entries == [true, false])
        #expect(disposed.arrivals == 1)
    }

    @Test func `a scope is disposed with its holder`() async throws {
        let disposed = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _ in disposed.arrive() }
        }
        do {
            let holder = ScopeHolder(try await container.openScope())
            _ = try await holder.scope.resolve(Thing.self)
        }
        await disposed.arrived()
        try await container.dispose()
    }
}
