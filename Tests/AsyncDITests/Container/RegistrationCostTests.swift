import Testing

@testable import AsyncDI

private protocol Kind: Sendable {}
extension Thing: Kind {}

/// The cost of many registrations of one service, and of many arguments with one hash: counted, not timed.
@Suite(.timeLimit(.minutes(10))) struct RegistrationCostTests {
    /// Counts how often two of its kind are compared.
    private final class Comparisons: Sendable {
        private let count = Counter()
        var value: Int { count.value }
        func note() { count.increment() }

        func during<R>(_ body: () async throws -> R) async rethrows -> (result: R, count: Int) {
            let before = value
            let result = try await body()
            return (result, value - before)
        }
    }

    private struct Name: Qualifier {
        let number: Int
        let comparisons: Comparisons
        static func == (first: Name, second: Name) -> Bool {
            first.comparisons.note()
            return first.number == second.number
        }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
        var description: String { "\(number)" }
    }

    /// An argument whose hash is that of every other.
    private struct Colliding: Hashable, Sendable {
        let number: Int
        let comparisons: Comparisons
        static func == (first: Colliding, second: Colliding) -> Bool {
            first.comparisons.note()
            return first.number == second.number
        }
        func hash(into hasher: inout Hasher) { hasher.combine(0) }
    }

    private static let many = 1_000

    private func container(of count: Int, _ comparisons: Comparisons, _ lifetime: Lifetime = .singleton) -> Container {
        Container {
            for number in 0..<count {
                Registration(Thing.self, qualifier: Name(number: number, comparisons: comparisons), lifetime: lifetime)
                {
                    _ in Thing(number)
                }
            }
        }
    }

    // MARK: One service under many qualifiers

    @Test func `the removal of one registration of many looks at that one`() async throws {
        let comparisons = Comparisons()
        let container = container(of: Self.many, comparisons)
        for number in 0..<Self.many {
            _ = try await container.resolve(Thing.self, qualifier: Name(number: number, comparisons: comparisons))
        }
        let (_, count) = await comparisons.during {
            for number in 0..<Self.many {
                let name = Name(number: number, comparisons: comparisons)
                #expect(await container.unregister(Thing.self, qualifier: name))
            }
        }
        #expect(count <= 20 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty && $0.registrations.isEmpty })
    }

    @Test func `the replacement of one registration of many looks at that one`() async throws {
        let comparisons = Comparisons()
        let container = container(of: Self.many, comparisons)
        // The lists by service were requested, and are kept up from then on.
        _ = await container.hasAnyRegistration(of: Thing.self, qualifier: nil)
        let (_, count) = try await comparisons.during {
            for number in 0..<Self.many {
                let name = Name(number: number, comparisons: comparisons)
                try await container.register(Thing.self, qualifier: name, lifetime: .singleton) { _ in Thing() }
            }
        }
        #expect(count <= 20 * Self.many)
    }

    @Test func `a removed or replaced registration with arguments looks at its own instances`() async throws {
        let comparisons = Comparisons()
        func name(_ number: Int) -> Name { Name(number: number, comparisons: comparisons) }
        let container = Container()
        for number in 0..<Self.many {
            try await container.register(Thing.self, qualifier: name(number), lifetime: .multiton) {
                (_, number: Int) in Thing(number)
            }
            _ = try await container.resolve(Thing.self, qualifier: name(number), arguments: number)
        }
        let (_, count) = try await comparisons.during {
            for number in 0..<Self.many {
                try await container.register(Thing.self, qualifier: name(number), lifetime: .multiton) {
                    (_, number: Int) in Thing(number)
                }
                #expect(await container.unregister(Thing.self, qualifier: name(number)))
            }
        }
        #expect(count <= 40 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty && $0.registrations.isEmpty })
    }

    @Test func `beside a decoration, a type forwarded to each of many is found as directly`() async throws {
        let comparisons = Comparisons()
        func name(_ number: Int) -> Name { Name(number: number, comparisons: comparisons) }
        func registration(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, qualifier: name(number), lifetime: .singleton) { _ in Thing(number) }
                .implements((any Kind).self) { $0 }
        }
        let container = Container {
            for number in 0..<Self.many { registration(number) }
            Decoration((any Kind).self, qualifier: name(0)) { _, inner in inner }
        }
        let (_, count) = try await comparisons.during {
            for number in 0..<Self.many {
                _ = try await container.resolve((any Kind).self, qualifier: name(number))
                try await container.register(registration(number))
                #expect(await container.unregister(Thing.self, qualifier: name(number)))
            }
        }
        #expect(count <= 60 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty && $0.registrations.isEmpty })
    }

    @Test func `contributions under many keys are replaced one by one, and taken back at once`() async throws {
        let comparisons = Comparisons()
        func key(_ number: Int) -> Name { Name(number: number, comparisons: comparisons) }
        let container = Container()
        func load() async throws {
            for number in 0..<Self.many {
                try await container.registerMany(Thing.self, key: key(number), lifetime: .singleton) { _ in
                    Thing(number)
                }
            }
        }
        try await load()
        #expect(try await container.resolveMany(Thing.self).map(\.number) == Array(0..<Self.many))
        let (_, replaced) = try await comparisons.during { try await load() }
        #expect(replaced <= 20 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty })
        #expect(try await container.resolveMany(Thing.self).map(\.number) == Array(0..<Self.many))
        let (_, removed) = await comparisons.during { await container.unregisterMany(Thing.self) }
        #expect(removed <= 20 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty && $0.registrations.isEmpty })
    }

    @Test func `a decoration looks at the registrations that it applies to, and these look at it`() async throws {
        let comparisons = Comparisons()
        func name(_ number: Int) -> Name { Name(number: number, comparisons: comparisons) }
        let container = container(of: Self.many, comparisons)
        let (_, decorated) = try await comparisons.during {
            for number in 0..<Self.many {
                try await container.decorate(Thing.self, qualifier: name(number)) { _, inner in
                    Thing(inner.number + 1)
                }
            }
        }
        #expect(decorated <= 20 * Self.many)
        #expect(try await container.resolve(Thing.self, qualifier: name(7)).number == 8)
        // A scope decorates an inherited registration.
        let (_, inherited) = try await comparisons.during {
            for number in 0..<100 {
                let scope = try await container.openScope {
                    Decoration(Thing.self, qualifier: name(number)) { _, inner in Thing(inner.number * 2) }
                }
                #expect(try await scope.resolve(Thing.self, qualifier: name(number)).number == (number + 1) * 2)
                try await scope.dispose()
            }
        }
        #expect(inherited <= 100 * 60)
        let (_, removed) = await comparisons.during {
            for number in 0..<Self.many { #expect(await container.unregister(Thing.self, qualifier: name(number))) }
        }
        #expect(removed <= 20 * Self.many)
    }

    @Test func `the reset of one instance of many compares with that one`() async throws {
        let comparisons = Comparisons()
        let container = container(of: Self.many, comparisons)
        for number in 0..<Self.many {
            _ = try await container.resolve(Thing.self, qualifier: Name(number: number, comparisons: comparisons))
        }
        let (_, count) = try await comparisons.during {
            for number in 0..<Self.many {
                try await container.reset(Thing.self, qualifier: Name(number: number, comparisons: comparisons))
            }
        }
        #expect(count <= 20 * Self.many)
        #expect(container.core.withState { $0.instances.isEmpty })
    }

    // MARK: Arguments with one hash

    private static let collisions = 300

    @Test(arguments: [Lifetime.multiton, .singleton, .scoped, .multiton(capacity: 1_000), .multiton(weak: true)])
    func `a creation compares with each of the same hash once, or twice`(lifetime: Lifetime) async throws {
        let comparisons = Comparisons()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, argument: Colliding) in Thing(argument.number) }
        }
        var things: [Thing] = []
        for number in 0..<Self.collisions {
            let (thing, count) = try await comparisons.during {
                try await container.resolve(
                    Thing.self, arguments: Colliding(number: number, comparisons: comparisons))
            }
            // A weakly held instance may have a dead entry: it is looked up once more.
            #expect(count <= (lifetime.isWeak ? 2 : 1) * number + 6)
            things.append(thing)
        }
        for number in 0..<Self.collisions {
            let (thing, count) = try await comparisons.during {
                try await container.resolve(
                    Thing.self, arguments: Colliding(number: number, comparisons: comparisons))
            }
            #expect(thing === things[number])
            #expect(count <= Self.collisions + 3)
        }
        withExtendedLifetime(things) {}
    }

    @Test func `a creation in flight is compared with once by each that comes after it`() async throws {
        let comparisons = Comparisons()
        let factory = DrivenFactory<Void>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, argument: Colliding) in
                try await factory.run()
                return Thing(argument.number)
            }
        }
        let (tasks, begun) = await comparisons.during {
            var tasks: [Task<Thing, any Error>] = []
            for number in 0..<Self.collisions {
                tasks.append(
                    Task {
                        try await container.resolve(
                            Thing.self, arguments: Colliding(number: number, comparisons: comparisons))
                    })
                await factory.began(number + 1)
            }
            return tasks
        }
        let pairs = Self.collisions * (Self.collisions - 1) / 2
        #expect(begun <= pairs + 6 * Self.collisions, "each compares with those in flight, once")
        let (_, ended) = try await comparisons.during {
            for number in 0..<Self.collisions { factory.answer((), run: number) }
            for task in tasks { _ = try await task.value }
        }
        #expect(ended <= 6 * Self.collisions, "the end of a creation compares nothing")
    }

    @Test func `an eviction compares nothing, nor does an idle entry`() async throws {
        let comparisons = Comparisons()
        let clock = ManualClock()
        let container = Container(clock: clock) {
            Registration(Thing.self, lifetime: .multiton(capacity: 100, idle: .seconds(10))) {
                (_, argument: Colliding) in Thing(argument.number)
            }
        }
        for number in 0..<Self.collisions {
            let (_, count) = try await comparisons.during {
                try await container.resolve(
                    Thing.self, arguments: Colliding(number: number, comparisons: comparisons))
            }
            #expect(count <= 100 + 6)
        }
        await clock.sleepers(reach: 1)
        let (_, idled) = await comparisons.during {
            clock.advance(by: .seconds(11))
            while container.core.withState({ !$0.instances.isEmpty }) { await Task.yield() }
        }
        #expect(idled == 0)
    }

    @Test func `a lease compares with each of the same hash once`() async throws {
        let comparisons = Comparisons()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton(capacity: 1_000)) { (_, argument: Colliding) in
                Thing(argument.number)
            }
        }
        for round in 0..<2 {
            for number in 0..<Self.collisions {
                let (_, count) = try await comparisons.during {
                    try await container.withInstance(
                        Thing.self, arguments: Colliding(number: number, comparisons: comparisons)
                    ) { _ in }
                }
                #expect(count <= (round == 0 ? number : Self.collisions) + 6, "round \(round)")
            }
        }
    }
}
