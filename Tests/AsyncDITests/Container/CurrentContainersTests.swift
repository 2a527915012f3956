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

    @Test func `a drain does not wait for the work of an object's scope, which may call it`() async throws {
        try await withScope("request") { _ in
            let screen = try OwnedScope(in: library)
            try? await screen.run { _ in try await library.drain() }
            #expect(throws: ResolutionError.self) { try library.ready(Int.self) }
        }
    }

    @Test func `a list ends where a task has cleared its current container`() async throws {
        try await withScope("request") { _ in
            try await Injection.with(library) {
                try await Container.$current.withValue(nil) {
                    #expect(Injection.with(third) { try? application.ready(String.self) } == "application")
                    try await Injection.with(third) { try await expect("application") }
                }
            }
        }
    }

    private func expectRefusedDrain(
        of container: Container, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(sourceLocation: sourceLocation) {
            try await Injection.with(third) { try await container.drain(deadline: .milliseconds(1)) }
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
            await Task.detached { try? await expect("application") }.value
        }
    }

    @Test func `a task elsewhere that uses a scope works for the bodies around that scope`() async throws {
        enum Use: CaseIterable { case scope, openedByHand, owned, byName }
        let library = library
        /// Runs a body with the scope of the library, or one below it, as the current container.
        func use(
            _ scope: Container, _ use: Use, _ body: @Sendable @escaping () async throws -> Void
        ) async throws {
            switch use {
            case .scope: try await scope.withScope { _ in try await body() }
            case .openedByHand:
                let opened = try await scope.openScope()
                try await Injection.with(opened) { try await body() }
                try await opened.dispose()
            case .owned: try await OwnedScope(in: scope, isDrained: true).finish { _ in try await body() }
            case .byName: try await Injection.with(scope) { try await body() }
            }
        }
        for kind in Use.allCases {
            try await withScope("request") { _ in
                try await library.withScope { scope in
                    try await Task.detached {
                        try await use(scope, kind) {
                            try await expect("request")
                            // Each body around would wait for this call.
                            await expectRefusedDrain(of: application)
                        }
                        try await third.withScope { _ in
                            try await expect("application")
                            try await use(scope, kind) { try await expect("request") }
                        }
                    }.value
                }
            }
        }
    }

    @Test func `work for a body that a drain waits for is admitted, wherever its task is from`() async throws {
        let isDraining = Gate()
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await withScope("request") { _ in
                    try await library.withScope { scope in
                        await isDraining.arrived()
                        try await Task.detached {
                            try await scope.withScope { _ in try await application.withScope { _ in } }
                        }.value
                    }
                }
            }
            await until { application.activity().scopes.count == 1 }
            group.addTask { [application] in try await application.drain() }
            await until { application.core.table.isDraining }
            isDraining.arrive()
            try await group.waitForAll()
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
                    try await library.withScope { _ async throws in #expect(try await library.resolve(Bool.self)) }
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

    /// Each request begins the next one in a task: nothing may be kept of the ones before.
    @Test(arguments: Chain.allCases)
    func `a chain of requests without end keeps little`(chain: Chain) async throws {
        let former = Locked<[Weak]>([])
        let done = Gate()
        try await chain.step(0, in: [application, library, third], noting: former, until: done)
        await done.arrived(Chain.length)
        #expect(former.withLock { $0.count } >= Chain.length)
    }

    struct Weak: Sendable {
        weak let object: (any AnyObject & Sendable)?
    }

    enum Chain: CaseIterable {
        case scopes, overlappingScopes, boundByName, overlappingLeases, leasesInScopes
        static let length = 300

        private static func container(_ number: Int, _ containers: [Container]) -> Container {
            number % 4 < 3 ? containers[number % 4] : Container()
        }

        /// One request, in which the next one begins: before it ends, or after that.
        @Sendable func step(
            _ number: Int, in containers: [Container], noting former: Locked<[Weak]>, until done: Gate,
            opening isBegun: Gate = Gate()
        ) async throws {
            if number == Self.length {
                // While the last request goes on, which could keep all former ones.
                await until { former.withLock { $0.count { $0.object != nil } } < 10 }
                return isBegun.open()
            }
            let (ended, begun) = (Gate(), Gate())
            let isOverlapping = self != .scopes && self != .boundByName
            let next = { @Sendable in
                if !isOverlapping { await ended.pass() }
                try await step(number + 1, in: containers, noting: former, until: done, opening: begun)
            }
            let container = Self.container(number, containers)
            func note(_ object: (any AnyObject & Sendable)?) {
                #expect(object != nil && CurrentContainers.all.count <= 12)
                former.withLock { $0.append(Weak(object: object)) }
                isBegun.open()
            }
            switch self {
            case .scopes, .overlappingScopes:
                try await container.withScope { scope in
                    note(scope.core)
                    Task(operation: next)
                    if isOverlapping {
                        await begun.pass()
                        note(scope.core.body)
                    }
                }
            case .boundByName:
                let scope = try await container.openScope(number)
                Injection.with(scope) {
                    note(scope.core)
                    _ = Task(operation: next)
                }
                try await scope.dispose()
            case .overlappingLeases, .leasesInScopes:
                let leased = Container {
                    Registration(Thing.self, lifetime: .multiton()) { (_, number: Int) in Thing(number) }
                }
                try await leased.withScope { scope in
                    let place = self == .leasesInScopes ? scope : leased
                    try await place.withInstance(Thing.self, arguments: number) { _ in
                        note(LeaseContext.body)
                        Task(operation: next)
                        await begun.pass()
                    }
                }
            }
            ended.open()
            done.arrive()
        }
    }

    /// The time grows with the square of the depth.
    @Test func `requests inside requests, thousands deep, end`() async throws {
        let (depth, innermost) = (2_500, Locked(0))
        @Sendable func descend(_ level: Int) async throws {
            if level == depth { return innermost.withLock { $0 = CurrentContainers.all.count } }
            try await [application, library][level % 2].withScope { _ in try await descend(level + 1) }
        }
        try await descend(0)
        #expect(innermost.withLock { $0 } == depth)
    }
}
