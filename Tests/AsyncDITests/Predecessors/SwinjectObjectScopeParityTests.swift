import Testing

@testable import AsyncDI

/// How users of Swinject share instances: each test under the name that they know it by.
@Suite(.timeLimit(.minutes(10))) struct SwinjectObjectScopeParityTests {
    @Test func `object scope transient: a new instance for every request`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { _ in Thing() }
            Registration(using: Pair.init)
        }
        let pair = try await container.resolve(Pair.self)
        #expect(pair.first !== pair.second)
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `object scope graph: shared within one resolution, and not with the next`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .graph) { _ in Thing() }
            Registration(using: Pair.init)
        }
        let (pair, next) = (try await container.resolve(Pair.self), try await container.resolve(Pair.self))
        #expect(pair.first === pair.second)
        #expect(pair.first !== next.first)
    }

    @Test func `object scope container: shared by the container and its children`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let child = Container(parent: container)
        let thing = try await child.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try await Container(parent: container).resolve(Thing.self) === thing)
    }

    @Test func `object scope weak: shared while a caller retains the instance`() async throws {
        let runs = Counter()
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing(runs.increment()) } }
        do {
            let thing = try await container.resolve(Thing.self)
            #expect(try await container.resolve(Thing.self) === thing)
            #expect(runs.value == 1)
        }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `object scope multiton: one instance for each pack of arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int, _: String) in Thing(number) }
        }
        let one = try await container.resolve(Thing.self, arguments: 1, "a")
        #expect(try await container.resolve(Thing.self, arguments: 1, "a") === one)
        #expect(try await container.resolve(Thing.self, arguments: 1, "b") !== one)
        #expect(try await container.resolve(Thing.self, arguments: 2, "a").number == 2)
    }

    @Test func `a custom object scope has a storage factory`() async throws {
        let made = Counter()
        let lifetime = Lifetime("discarded when read") {
            made.increment()
            return OneUseStorage()
        }
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Cat.self, lifetime: lifetime) { _ in Cat() }
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing, "the storage still has it, once")
        #expect(try await container.resolve(Thing.self) !== thing, "the storage has let it go")
        _ = try await container.resolve(Cat.self)
        #expect(made.value == 2, "one storage for each registration")
    }

    @Test func `a custom object scope composes its storage with a parent's`() async throws {
        let kept = StrongStorage()
        let lifetime = Lifetime("once, or as long as the parent") { CompositeStorage([OneUseStorage(), kept]) }
        let container = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() } }
        let thing = try await container.resolve(Thing.self)
        for _ in 1...3 { #expect(try await container.resolve(Thing.self) === thing, "the parent's storage has it") }
        kept.clear()
        #expect(try await container.resolve(Thing.self) !== thing)
    }

    @Test func `resetObjectScope forgets the instances of one scope`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .session) { _ in Thing() }
            Registration(Cat.self, lifetime: .singleton) { _ in Cat() }
        }
        let (thing, cat) = (try await container.resolve(Thing.self), try await container.resolve(Cat.self))
        try await container.reset(.session)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Cat.self) === cat)
    }

    @Test func `resetObjectScope by type concerns one name, unlike in Swinject`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in runs.increment() }
            Registration(Int.self, qualifier: "named", lifetime: .singleton) { _ in runs.increment() }
        }
        let (plain, named) = (
            try await container.resolve(Int.self), try await container.resolve(Int.self, qualifier: "named")
        )
        try await container.reset(Int.self)
        #expect(try await container.resolve(Int.self) != plain)
        #expect(try await container.resolve(Int.self, qualifier: "named") == named)
    }

    @Test func `resetObjectScope by type forgets one service`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Cat.self, lifetime: .singleton) { _ in Cat() }
        }
        let (thing, cat) = (try await container.resolve(Thing.self), try await container.resolve(Cat.self))
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Cat.self) === cat)
    }

    @Test(arguments: [false, true])
    func `resetObjectScope goes through ancestors when told to, by scope and by type alike`(isByType: Bool) async throws
    {
        let root = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let child = Container(parent: Container(parent: root))
        func reset(throughAncestors: Bool) async throws {
            if isByType {
                try await child.reset(Thing.self, throughAncestors: throughAncestors)
            } else {
                try await child.reset(.singleton, throughAncestors: throughAncestors)
            }
        }
        let thing = try await child.resolve(Thing.self)
        try await reset(throughAncestors: false)
        #expect(try await child.resolve(Thing.self) === thing)
        try await reset(throughAncestors: true)
        #expect(try await child.resolve(Thing.self) !== thing)
    }
}

// MARK: Services

extension Lifetime {
    fileprivate static let session = Lifetime("session")
}

private final class Cat: Sendable {
    let name: String
    init(_ name: String = "cat") { self.name = name }
}

private struct Pair: Sendable {
    let first: Thing
    let second: Thing
}

/// Gives its instance once.
private final class OneUseStorage: InstanceStorage {
    private let instance = Locked<(any Sendable)?>(nil)

    func load() -> (any Sendable)? {
        instance.withLock { instance in
            defer { instance = nil }
            return instance
        }
    }
    func store(_ new: any Sendable) { instance.withLock { $0 = new } }
    func clear() { instance.withLock { $0 = nil } }
}
