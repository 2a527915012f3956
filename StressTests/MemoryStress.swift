import AsyncDI
import Testing

/// Counts itself while it is in memory.
private final class Held: Sendable {
    private let live: Counter

    init(_ live: Counter) {
        self.live = live
        live.add()
    }

    deinit { live.add(-1) }
}

/// Opens and closes scopes in every way there is.
private struct Scopes {
    struct Failure: Error {}

    let live = Counter()
    let application: Container

    init() {
        application = Container { [live] in
            Registration(Held.self, lifetime: .scoped) { _ in Held(live) }
                .onDispose { _ in }
            Registration(Held.self, qualifier: "singleton", lifetime: .singleton) { _ in Held(live) }
            Registration(Held.self, qualifier: "transient", lifetime: .transient) { resolver in
                try await resolver.resolve(Held.self)
            }
        }
    }

    /// A weak reference to the opened container: no other code may hold it by then.
    @discardableResult
    func openAndClose(_ number: Int) async throws -> WeakContainer {
        switch number % 5 {
        case 0:
            let scope = try await application.openScope(number)
            _ = try await scope.resolve(Held.self)
            try await application.disposeScope(number)
            return WeakContainer(scope)
        case 1:
            let scope = try await application.openScope()
            let inner = try await scope.openScope("inner") { Registration(Int.self, instance: number) }
            _ = try await inner.resolve(Held.self)
            try await scope.dispose()
            return WeakContainer(inner)
        case 2:
            return try await application.withScope(number) { scope in
                _ = try await application.resolve(Held.self, qualifier: "transient")
                return WeakContainer(scope)
            }
        case 3:
            do {
                try await application.withScope { _ in
                    _ = try await application.resolve(Held.self)
                    throw Failure()
                }
            } catch is Failure {}
            return WeakContainer(nil)
        default:
            // Dropped without being disposed.
            let child = Container(parent: application)
            _ = try await child.resolve(Held.self)
            return WeakContainer(child)
        }
    }
}

private struct WeakContainer: Sendable {
    weak let container: Container?

    init(_ container: Container?) {
        self.container = container
    }
}

@Suite(.timeLimit(.minutes(10)))
struct MemoryStress {
    @Test
    func `closed scopes and their instances are gone`() async throws {
        let scopes = Scopes()
        _ = try await scopes.application.resolve(Held.self, qualifier: "singleton")
        let opened = try await withThrowingTaskGroup(of: [WeakContainer].self) { group in
            for task in 0..<10 {
                group.addTask {
                    var opened: [WeakContainer] = []
                    for number in 0..<Stress.count(1_000) {
                        opened.append(try await scopes.openAndClose(task * 1_000_000 + number))
                    }
                    return opened
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let isEmpty = await eventually { scopes.live.value == 1 && opened.allSatisfy { $0.container == nil } }
        let containers = opened.count { $0.container != nil }
        #expect(isEmpty, "\(scopes.live.value - 1) instances and \(containers) containers live on")
        try await scopes.application.dispose()
        let isOver = await eventually { scopes.live.value == 0 }
        #expect(isOver)
    }

    @Test
    func `a container that is dropped takes everything with it`() async throws {
        let live = Counter()
        var dropped: [WeakContainer] = []
        for _ in 0..<Stress.count(500) {
            let container = Container {
                Registration(Held.self, lifetime: .singleton) { _ in Held(live) }
                Registration(Held.self, lifetime: .multiton) { (resolver, _: Int) in
                    _ = try await resolver.resolve(Held.self)
                    return Held(live)
                }
                Registration(Held.self, qualifier: "scoped", lifetime: .scoped) { _ in Held(live) }
            }
            for key in 0..<3 { _ = try await container.resolve(Held.self, arguments: key) }
            let scope = try await container.openScope("request")
            _ = try await scope.resolve(Held.self, qualifier: "scoped")
            dropped += [WeakContainer(container), WeakContainer(scope)]
        }
        let isEmpty = await eventually { live.value == 0 && dropped.allSatisfy { $0.container == nil } }
        #expect(isEmpty, "\(live.value) instances live on")
    }

    // In a process of their own, so that no other test's memory is counted.
    #if os(Linux)
        /// The bytes that may remain for each scope: any scope that leaks is several times as large.
        private static let allowance = 180

        @Test(.enabled(if: Memory.canBeMeasured))
        func `a hundred thousand scopes leave memory where it was`() async {
            await #expect(processExitsWith: .success) {
                let scopes = Scopes()
                let count = Stress.count(100_000)
                let growth = try await Memory.growth(over: count) { _ = try await scopes.openAndClose($0) }
                try #require(growth < Self.bound(for: count), "grew by \(growth) bytes over \(count) scopes")
                let isEmpty = await eventually { scopes.live.value == 0 }
                try #require(isEmpty)
            }
        }

        @Test(.enabled(if: Memory.canBeMeasured))
        func `scopes that leak are noticed`() async {
            await #expect(processExitsWith: .success) {
                let scopes = Scopes()
                let count = 20_000
                let growth = try await Memory.growth(over: count) { number in
                    let scope = try await scopes.application.openScope("leaked \(number)-\(scopes.live.value)")
                    _ = try await scope.resolve(Held.self)
                }
                try #require(growth > Self.allowance * count * 2, "grew by \(growth) bytes over \(count) scopes")
            }
        }

        @Test(.enabled(if: Memory.canBeMeasured))
        func `resolves that fail, meet a cycle, are cancelled or reset leave nothing behind`() async {
            await #expect(processExitsWith: .success) {
                let live = Counter()
                let container = Self.troublesome(live)
                let count = Stress.count(15_000)
                let growth = try await Memory.growth(over: count) { try await Self.trouble(container, $0) }
                try #require(growth < Self.bound(for: count), "grew by \(growth) bytes over \(count) rounds")
                let isEmpty = await eventually { live.value == 0 }
                try #require(isEmpty)
            }
        }

        private static func bound(for count: Int) -> Int {
            max(2 << 20, allowance * count)
        }

        private static func troublesome(_ live: Counter) -> Container {
            Container {
                Registration(Held.self, lifetime: .multiton) { (_, _: Int) in Held(live) }
                    .onDispose { _ in }
                Registration(Held.self, qualifier: "weak", lifetime: .weak) { _ in Held(live) }
                Registration(Held.self, qualifier: "failing", lifetime: .singleton) { _ in throw Scopes.Failure() }
                Registration(Held.self, qualifier: "circular", lifetime: .singleton) { resolver in
                    try await resolver.resolve(Held.self, qualifier: "circular")
                }
                Registration(Held.self, qualifier: "slow", lifetime: .singleton) { _ in
                    while !Task.isCancelled { await Task.yield() }
                    throw CancellationError()
                }
            }
        }

        private static func trouble(_ container: Container, _ number: Int) async throws {
            _ = try await container.resolve(Held.self, arguments: number)
            _ = try await container.resolve(Held.self, qualifier: "weak")
            for qualifier in ["failing", "circular"] {
                do {
                    _ = try await container.resolve(Held.self, qualifier: qualifier)
                } catch {}
            }
            let abandoned = Task { try await container.resolve(Held.self, qualifier: "slow") }
            await Task.yield()
            abandoned.cancel()
            _ = await abandoned.result
            if number.isMultiple(of: 50) {
                try await container.reset(.multiton)
            } else {
                try await container.reset(Held.self, arguments: number)
            }
        }
    #endif
}
