import Dispatch
import Testing

@testable import AsyncDI

/// The action of a qualifier's `==` during a comparison; none until a test sets one.
private final class Deed: Sendable {
    private struct State {
        var action: (@Sendable () -> Void)?
        var isActing = false
        var count = 0
    }

    private let state = Locked(State())

    /// How often it was done.
    var count: Int { state.withLock { $0.count } }

    func set(_ action: (@Sendable () -> Void)?) { state.withLock { $0.action = action } }

    func perform() {
        // Its own comparisons have no further action.
        let action: (@Sendable () -> Void)? = state.withLock { state in
            guard state.action != nil, !state.isActing else { return nil }
            state.isActing = true
            state.count += 1
            return state.action
        }
        guard let action else { return }
        action()
        state.withLock { $0.isActing = false }
    }
}

/// Equal by its number; all have one hash, so that others are compared too.
private struct Busy: Qualifier {
    let number: Int
    let deed: Deed

    static func == (first: Busy, second: Busy) -> Bool {
        first.deed.perform()
        return first.number == second.number
    }

    func hash(into hasher: inout Hasher) {}
}

private final class Service: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

private struct Unrelated: Sendable {}

/// Comparing qualifiers and the keys of contributions is the user's code: it may do whatever it likes but return late.
@Suite(.timeLimit(.minutes(10))) struct ReentrantQualifierTests {
    private static let count = 4
    private static var eachTwice: [Int] { (0..<count).flatMap { [$0, $0] } }
    private let deed = Deed()

    private func qualifier(_ number: Int) -> Busy { Busy(number: number, deed: deed) }

    private func makeContainer(parent: Container? = nil, fallbacks: [Container] = []) -> Container {
        Container(parent: parent, fallbacks: fallbacks) {
            Registration(Unrelated.self, instance: Unrelated())
            for number in 0..<Self.count {
                Registration(Service.self, qualifier: qualifier(number), lifetime: .singleton) { _ in Service(number) }
                Registration(Int.self, qualifier: qualifier(number), instance: number)
            }
        }
    }

    /// From now on each comparison changes other containers, which waits until every read that goes on has ended, and
    /// looks things up.
    private func misbehave(with container: Container) {
        deed.set {
            func makeOther() -> Container {
                Container {
                    Registration(Service.self, lifetime: .singleton) { _ in Service(-1) }
                    Registration(Unrelated.self, qualifier: "other", instance: Unrelated())
                }
            }
            // Dropped at once, which waits until every read has ended.
            _ = try? makeOther().ready(Unrelated.self, qualifier: "other")
            _ = try? container.ready(Unrelated.self)
            Task { [other = makeOther()] in try await other.register(Unrelated.self, instance: Unrelated()) }
        }
    }

    /// Performs the same action twice for each qualifier: with a missing instance, and with an existing one.
    private func checkEach(
        of container: Container, _ body: @escaping @Sendable (Container, Busy) async throws -> Int?
    ) async throws {
        for number in Self.eachTwice {
            let before = deed.count
            misbehave(with: container)
            #expect(try await body(container, qualifier(number)) == number)
            #expect(deed.count > before, "it was compared")
        }
    }

    @Test func `a comparison inside a request may change containers`() async throws {
        try await inTime {
            try await checkEach(of: makeContainer()) { try await $0.resolve(Service.self, qualifier: $1).number }
        }
    }

    @Test func `a comparison inside a request for a qualifier of any type may change containers`() async throws {
        try await inTime {
            try await checkEach(of: makeContainer()) {
                try await $0.resolve(Service.self, qualifier: $1 as any Qualifier).number
            }
        }
    }

    @Test func `a comparison inside an optional request may change containers`() async throws {
        try await inTime {
            try await checkEach(of: makeContainer()) { try await $0.optional(Service.self, qualifier: $1)?.number }
            let container = makeContainer()
            misbehave(with: container)
            #expect(try await container.optional(Service.self, qualifier: qualifier(Self.count)) == nil)
        }
    }

    @Test func `a comparison inside a synchronous request may change containers`() async throws {
        try await inTime {
            try await checkEach(of: makeContainer()) { try $0.ready(Int.self, qualifier: $1) }
        }
    }

    @Test func `a comparison inside isRegistered may change containers`() async throws {
        try await inTime {
            try await checkEach(of: makeContainer()) { container, qualifier in
                let isThere = await container.isRegistered(Service.self, qualifier: qualifier)
                return isThere ? qualifier.number : nil
            }
            let container = makeContainer()
            misbehave(with: container)
            #expect(await !container.isRegistered(Service.self, qualifier: qualifier(Self.count)))
        }
    }

    @Test func `a comparison inside a factory's request may change containers`() async throws {
        try await inTime {
            let container = makeContainer()
            for number in 0..<Self.count {
                let qualifier = qualifier(number)
                try await container.register(String.self, lifetime: .transient) { resolver in
                    "\(try await resolver.resolve(Service.self, qualifier: qualifier).number)"
                }
                for _ in 0..<2 {
                    misbehave(with: container)
                    #expect(try await container.resolve(String.self) == "\(number)")
                }
            }
        }
    }

    @Test func `a comparison inside a request of a scope may change containers`() async throws {
        try await inTime {
            let container = makeContainer()
            let overridden = qualifier(1)
            let scope = try await container.openScope {
                Registration(Service.self, qualifier: overridden, lifetime: .scoped) { _ in Service(10) }
            }
            for number in Self.eachTwice {
                misbehave(with: container)
                let expected = number == 1 ? 10 : number
                #expect(try await scope.resolve(Service.self, qualifier: qualifier(number)).number == expected)
                misbehave(with: scope)
                #expect(try await container.resolve(Service.self, qualifier: qualifier(number)).number == number)
            }
        }
    }

    @Test func `a comparison inside a request of fallbacks may change containers`() async throws {
        try await inTime {
            let first = Container {
                Registration(Service.self, qualifier: qualifier(0), instance: Service(20))
            }
            let container = Container(parent: makeContainer(), fallbacks: [first])
            for number in Self.eachTwice {
                misbehave(with: container)
                let expected = number == 0 ? 20 : number
                let service = try await container.resolve(Service.self, qualifier: qualifier(number))
                #expect(service.number == expected)
            }
        }
    }

    @Test func `a comparison of contributions' keys may change containers`() async throws {
        try await inTime {
            let container = Container {
                Registration(Unrelated.self, instance: Unrelated())
                for number in 0..<Self.count {
                    Registration(Service.self, lifetime: .singleton) { _ in Service(number) }
                        .intoMany(key: qualifier(number))
                }
            }
            for _ in 0..<2 {
                misbehave(with: container)
                let map = try await container.resolveMap(Service.self, keyedBy: Busy.self)
                #expect(map.count == Self.count)
                #expect(map.allSatisfy { key, service in key.number == service.number })
            }
        }
    }

    @Test func `an emptied place does not hide a registration behind it`() async throws {
        let container = makeContainer()
        let scope = try await container.openScope {
            Registration(Service.self, qualifier: qualifier(2), instance: Service(30))
            Registration(Service.self, qualifier: qualifier(3), instance: Service(40))
        }
        #expect(try await scope.resolve(Service.self, qualifier: qualifier(2)).number == 30)
        await scope.unregister(Service.self, qualifier: qualifier(2))
        #expect(try await scope.resolve(Service.self, qualifier: qualifier(2)).number == 2)
        #expect(try await scope.resolve(Service.self, qualifier: qualifier(3)).number == 40)
        #expect(try scope.ready(Service.self, qualifier: qualifier(3)).number == 40)
    }

    @Test func `an instance of a scope with the same hash does not hide an override`() async throws {
        let container = Container {
            for number in 0..<2 {
                Registration(Service.self, qualifier: qualifier(number), lifetime: .scoped) { _ in Service(number) }
            }
        }
        let scope = try await container.openScope()
        // Its instance gets a place in the scope's table, and answers no more once something was registered.
        for _ in 0..<3 { _ = try await scope.resolve(Service.self, qualifier: qualifier(0)) }
        try await scope.register(Service.self, qualifier: qualifier(1), instance: Service(50))
        #expect(try await scope.resolve(Service.self, qualifier: qualifier(1)).number == 50)
        #expect(try await scope.resolve(Service.self, qualifier: qualifier(0)).number == 0)
    }

    @Test func `requests find a service that is registered again with an equal qualifier`() async throws {
        let container = makeContainer()
        let isDone = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 {
                    for number in 0..<Self.count {
                        try await container.register(
                            Service.self, qualifier: qualifier(number), instance: Service(number))
                    }
                }
                isDone.increment()
            }
            group.addTask {
                while isDone.value == 0 {
                    for number in 0..<Self.count {
                        let any: any Qualifier = qualifier(number)
                        let first = try await container.resolve(Service.self, qualifier: any)
                        let second = try await container.resolve(Service.self, qualifier: qualifier(number))
                        #expect(first.number == number && second.number == number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Ends the process when the body hangs: a thread that waits inside a read keeps everybody else waiting too, the time
/// limit of the suite included.
private func inTime(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let isDone = Locked(false)
    DispatchQueue.global().asyncAfter(deadline: .now() + 480) {
        precondition(isDone.withLock { $0 }, "a comparison hangs")
    }
    defer { isDone.withLock { $0 = true } }
    try await body()
}
