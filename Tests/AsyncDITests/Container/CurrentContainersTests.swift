import Testing

@testable import AsyncDI

/// The scope that stands for an outer container, where a task has made several containers current.
@Suite(.timeLimit(.minutes(10))) struct CurrentContainersTests {
    private let application = Container {
        Registration(String.self, instance: "application")
        Registration(Int.self, lifetime: .scoped) { r in try await r.resolve(String.self).count }
    }
    private let library = Container { Registration(Bool.self, instance: true) }
    private let third = Container()

    /// Requests of the application's container must be answered by the scope with this name.
    private func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await application.resolve(String.self) == text, sourceLocation: sourceLocation)
        #expect(try await application.resolve(Int.self) == text.count, sourceLocation: sourceLocation)
        #expect(try application.ready(String.self) == text, sourceLocation: sourceLocation)
        #expect(try await library.resolve(Bool.self), sourceLocation: sourceLocation)
    }

    private nonisolated(nonsending) func withScope(
        _ text: String, of container: Container? = nil, operation: (Container) async throws -> Void
    ) async throws {
        try await (container ?? application).withScope {
            Registration(String.self, instance: text)
        } operation: { scope in
            try await operation(scope)
        }
    }

    @Test func `the innermost scope below answers, and not one around it`() async throws {
        try await withScope("request") { _ in
            try await library.withScope { _ in try await expect("request") }
            try await Injection.with(library) { try await expect("request") }
            try await withContainer {
            } operation: { _ in
                try await expect("request")
                try await third.withScope { _ in try await expect("request") }
            }
            try await Injection.with(third) {
                try await withScope("inner one") { _ in
                    try await expect("inner one")
                    try await library.withScope { _ in try await expect("inner one") }
                    try await Injection.with(library) { try await expect("inner one") }
                }
                try await expect("request")
            }
        }
        try await library.withScope { _ in try await expect("application") }
    }

    @Test func `an owned scope's work, and a scope opened by hand, stand for containers above`() async throws {
        let owned = try OwnedScope(in: application) { Registration(String.self, instance: "screen") }
        try await owned.run { _ in
            try await expect("screen")
            try await library.withScope { _ in try await expect("screen") }
        }
        let opened = try await application.openScope("session") { Registration(String.self, instance: "session") }
        try await Injection.with(opened) {
            try await library.withScope { _ in try await expect("session") }
            let text = Injection.with(library) { try? application.ready(String.self) }
            #expect(text == "session")
        }
    }

    @Test func `work of another container, within another one's, remains in the request`() async throws {
        try await withScope("request") { _ in
            let other = try OwnedScope(in: library, isDrained: true)
            try await other.run { _ in
                try await Injection.with(third) { try await expect("request") }
                await expectRefusedDrain(of: application)
                await expectRefusedDrain(of: library)
            }
            try await other.end()
        }
    }

    private func expectRefusedDrain(
        of container: Container, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(sourceLocation: sourceLocation) {
            try await Injection.with(third) { try await container.drain() }
        } throws: {
            ($0 as? ResolutionError)?.code == .invalidOperation
        }
    }

    @Test func `a container that was made current last comes first, wherever it was opened`() async throws {
        try await withScope("outer") { _ in
            try await library.withScope { libraryScope in
                try await withScope("inner") { inner in
                    try await Injection.with(libraryScope) { try await expect("inner") }
                    try await withScope("innermost", of: inner) { innermost in
                        try await Injection.with(third) { try await expect("innermost") }
                        try await Injection.with(inner) {
                            try await expect("inner")
                            try await library.withScope { _ in try await expect("inner") }
                        }
                        try await Injection.with(innermost) {
                            try await library.withScope { _ in try await expect("innermost") }
                        }
                    }
                }
                try await expect("outer")
            }
        }
    }

    @Test func `bound by name, a container is the current one itself`() async throws {
        try await withScope("request") { request in
            try await Injection.with(application) {
                try await expect("application")
                try await library.withScope { _ in try await expect("application") }
                try await Injection.with(third) { try await expect("application") }
                try await Injection.with(request) { try await expect("request") }
            }
            // The scopes are around a body, and not around an object.
            await Task.detached { try? await expect("application") }.value
        }
    }

    @Test func `a task that outlives its request outlives it in another container's scope, too`() async throws {
        let end = Gate()
        var task: Task<Void, any Error>?
        try await withScope("request") { _ in
            task = Task {
                await end.pass()
                for isInside in [false, true] {
                    for key in [String.self, Int.self] as [any Sendable.Type] {
                        await #expect(throws: ResolutionError.self) {
                            isInside
                                ? try await library.withScope { _ in try await resolve(key) }
                                : try await Injection.with(third) { try await resolve(key) }
                        }
                    }
                    try await library.withScope { _ in #expect(try await library.resolve(Bool.self)) }
                }
                // A new request of the application is one.
                try await withScope("next") { _ in
                    try await library.withScope { _ in try await expect("next") }
                }
            }
        }
        end.open()
        try await task?.value
    }

    private func resolve(_ service: any Sendable.Type) async throws {
        func open<Service: Sendable>(_ service: Service.Type) async throws {
            _ = try await application.resolve(service)
        }
        try await open(service)
    }

    /// Each request begins the next one in a task, and ends: nothing may be kept of the ones before.
    @Test(arguments: [false, true])
    func `a chain of requests without end keeps a short list`(isByName: Bool) async throws {
        let former = WeakCores()
        var work: @Sendable (Int) async throws -> Void = { _ in }
        let loop = Locked(work)
        let done = Gate()
        work = { [application, library, third] number in
            #expect(CurrentContainers.all.count <= 12)
            if number == 300 { return done.open() }
            let (next, ends) = (loop.withLock { $0 }, Gate())
            func step(_ scope: Container) {
                former.append(scope.core)
                Task {
                    await ends.pass()
                    try await next(number + 1)
                }
            }
            let container = [application, library, third, Container()][number % 4]
            if isByName {
                let scope = try await container.openScope(number)
                await Injection.with(scope) { step(scope) }
                try await scope.dispose()
            } else {
                try await container.withScope { step($0) }
            }
            ends.open()
        }
        loop.withLock { $0 = work }
        try await work(0)
        await done.pass()
        loop.withLock { $0 = { _ in } }
        #expect(former.alive <= 30)
    }

    private struct WeakCores {
        private let all = Locked<[WeakCore]>([])

        func append(_ core: ContainerCore) { all.withLock { $0.append(WeakCore(core: core)) } }
        var alive: Int { all.withLock { $0.count { $0.core != nil } } }
    }

    @Test func `requests inside requests, many thousands deep, end`() async throws {
        let (depth, innermost) = (5_000, Locked(0))
        @Sendable func descend(_ level: Int) async throws {
            if level == depth { return innermost.withLock { $0 = CurrentContainers.all.count } }
            try await [application, library][level % 2].withScope { _ in try await descend(level + 1) }
        }
        try await descend(0)
        #expect(innermost.withLock { $0 } == depth)
    }
}
