import AsyncDI
import Testing

private final class Root: Sendable {}
private final class Middle: Sendable {
    init(root: Root) {}
}
private final class Leaf: Sendable {
    init(middle: Middle, root: Root) {}
}

/// Counts events by kind, and checks their order.
private final class Bookkeeper: ContainerObserver {
    private let counts = Locked<[String: Int]>([:])

    func container(_ container: Container, did event: ContainerEvent) {
        counts.withLock { counts in
            switch event {
            case .created: counts["created", default: 0] += 1
            case .disposed:
                counts["disposed", default: 0] += 1
                // The event of a disposal follows that of the creation it ends.
                if counts["disposed", default: 0] > counts["created", default: 0] { counts["wrong", default: 0] += 1 }
            case .scopeOpened: counts["opened", default: 0] += 1
            case .scopeClosed:
                counts["closed", default: 0] += 1
                if counts["closed", default: 0] > counts["opened", default: 0] { counts["wrong", default: 0] += 1 }
            case .stalled, .failed: counts["unexpected", default: 0] += 1
            default: break
            }
        }
    }

    var stallThreshold: Duration { .seconds(600) }

    subscript(kind: String) -> Int { counts.withLock { $0[kind, default: 0] } }
}

/// Detects reports of a wait after its end.
private final class StallOrder: ContainerObserver {
    private let state = Locked((ended: Set<ServiceKey>(), stalls: 0, wrong: 0))

    /// Every wait is too long.
    var stallThreshold: Duration { .zero }
    var ended: Int { state.withLock { $0.ended.count } }
    var wrong: Int { state.withLock { $0.wrong } }

    func container(_ container: Container, did event: ContainerEvent) {
        state.withLock { state in
            switch event {
            case .created(let key, _, _): state.ended.insert(key)
            case .stalled(_, let key, _): if state.ended.contains(key) { state.wrong += 1 }
            default: break
            }
        }
    }
}

/// Recording and observing while thousands of tasks resolve, in scopes that come and go.
@Suite(.timeLimit(.minutes(10))) struct DiagnosticsStress {
    @Test func `a recording under thousands of tasks is complete, and observers hear everything once`() async throws {
        let observer = Bookkeeper()
        let requests = Stress.count(4000)
        let container = Container(name: "app", observers: [observer]) {
            Registration(Root.self, lifetime: .singleton) { _ in Root() }.onDispose { _ in }
            Registration(using: Middle.init, lifetime: .scoped).onDispose { _ in }
            Registration(using: Leaf.init)
        }
        await container.startRecording()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<requests {
                if number >= 64 { try await group.next() }
                group.addTask {
                    try await container.withScope(number) { scope in
                        async let first = scope.resolve(Leaf.self)
                        async let second = scope.resolve(Leaf.self)
                        _ = try await (first, second)
                    }
                }
            }
            try await group.waitForAll()
        }
        let graph = await container.dependencyGraph()
        try await container.dispose()

        #expect(graph.nodes == ["Leaf", "Middle", "Root"])
        #expect(
            graph.edges == [
                .init(from: "Leaf", to: "Middle"), .init(from: "Leaf", to: "Root"), .init(from: "Middle", to: "Root"),
            ])
        #expect(graph["Leaf"]?.creations == requests * 2)
        #expect(graph["Middle"]?.creations == requests)
        #expect(graph["Root"]?.creations == 1)
        while observer["disposed"] < requests + 1 || observer["closed"] < requests { await Task.yield() }
        #expect(observer["created"] == requests + 1)
        #expect(observer["opened"] == requests)
        #expect(observer["wrong"] == 0)
        #expect(observer["unexpected"] == 0)
    }

    @Test func `no wait is told after its end, whichever container was asked`() async throws {
        let observer = StallOrder()
        let count = Stress.count(2000)
        let container = Container(name: "app", observers: [observer]) {
            for number in 0..<count {
                Registration(Root.self, qualifier: .key(number), lifetime: .singleton) { _ in
                    for _ in 0..<number % 5 { await Task.yield() }
                    return Root()
                }
            }
        }
        let scope = try await container.openScope("s")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { try await group.next() }
                for asked in [container, scope] {
                    group.addTask { _ = try await asked.resolve(Root.self, qualifier: .key(number)) }
                }
            }
            try await group.waitForAll()
        }
        while observer.ended < count { await Task.yield() }
        try await container.dispose()
        #expect(observer.wrong == 0)
    }

    @Test func `recordings begin and end while others resolve, and validate reads along`() async throws {
        let container = Container(name: "app") {
            Registration(Root.self, lifetime: .singleton) { _ in Root() }
            Registration(using: Middle.init)
            Registration(using: Leaf.init)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<Stress.count(500) {
                        switch number {
                        case 0: await container.startRecording()
                        case 1: await container.stopRecording()
                        case 2: #expect(await container.dependencyGraph().nodes.count <= 3)
                        case 3: try await container.validate()
                        case 4: #expect(container.description.contains("3 registrations"))
                        default: _ = try await container.resolve(Leaf.self)
                        }
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
