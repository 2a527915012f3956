import Testing

@testable import AsyncDI

private protocol Named: Sendable {
    var name: String { get }
}
private struct ValueNamed: Named { let name: String }
private final class ObjectNamed: Named {
    let name: String
    init(name: String) { self.name = name }
}

/// A value of which two may differ although they were made in the same way.
private struct Value: Sendable, Equatable { let number: Int }

/// Equal only to itself, and always with the same hash.
private struct Colliding: Hashable {
    let number: Int
    func hash(into hasher: inout Hasher) { hasher.combine(0) }
}

/// Something that holds two things: what a graph may share between them.
private struct Pair: Sendable {
    let first: Thing
    let second: Thing
    var isShared: Bool { first === second }
}

extension Lifetime {
    fileprivate static let session = Lifetime("session")
    fileprivate static let perScope = Lifetime("per scope", ownedBy: .resolvingContainer)

    /// What the owner shares with every scope below it.
    fileprivate static let owned: [Lifetime] = [.singleton, .multiton, .weak, .session]
    /// What each container asked has for itself.
    fileprivate static let asked: [Lifetime] = [.scoped, .perScope]
    /// What is kept without anybody holding it.
    fileprivate static let kept: [Lifetime] = [.singleton, .multiton, .session, .scoped, .perScope]
    fileprivate static let shared = owned + asked
}

/// How long and where instances are shared: the table of DESIGN 3.2.
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
    @Test func `a transient is never shared, with or without arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { _ in Thing() }
            Registration(Thing.self, lifetime: .transient) { (_, number: Int) in Thing(number) }
            Registration(Pair.self, lifetime: .transient) { r in try await Pair(first: r.resolve(), second: r.resolve())
            }
        }
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
        #expect(try await container.resolve(Thing.self, arguments: 1) !== container.resolve(Thing.self, arguments: 1))
        #expect(try await !container.resolve(Pair.self).isShared)
    }

    @Test(arguments: Lifetime.shared)
    func `a shared service gives the same instance again`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try container.ready(Thing.self) === thing)
        #expect(runs.value == 1)
    }

    @Test(arguments: Lifetime.shared)
    func `arguments are part of the cache key`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int, text: String) in Thing(number) }
        }
        let one = try await container.resolve(Thing.self, arguments: 1, "a")
        let two = try await container.resolve(Thing.self, arguments: 2, "a")
        let other = try await container.resolve(Thing.self, arguments: 1, "b")
        #expect((one.number, two.number, other.number) == (1, 2, 1))
        #expect(one !== other)
        #expect(try await container.resolve(Thing.self, arguments: 1, "a") === one)
        #expect(try await container.resolve(Thing.self, arguments: 2, "a") === two)
        #expect(try await container.resolve(Thing.self, arguments: 1, "b") === other)
    }

    @Test(arguments: Lifetime.shared)
    func `equality of arguments decides, never their hash`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, key: Colliding) in Thing(key.number) }
        }
        let things = [
            try await container.resolve(Thing.self, arguments: Colliding(number: 1)),
            try await container.resolve(Thing.self, arguments: Colliding(number: 2)),
        ]
        #expect(things.map(\.number) == [1, 2])
        #expect(try await container.resolve(Thing.self, arguments: Colliding(number: 1)) === things[0])
    }

    @Test(arguments: Lifetime.shared)
    func `qualifiers have instances of their own`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "a", lifetime: lifetime) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "b", lifetime: lifetime) { _ in Thing(2) }
        }
        let (a, b) = (
            try await container.resolve(Thing.self, qualifier: "a"),
            try await container.resolve(Thing.self, qualifier: "b")
        )
        #expect((a.number, b.number) == (1, 2))
        #expect(try await container.resolve(Thing.self, qualifier: "a") === a)
    }

    @Test(arguments: Lifetime.owned, [false, true])
    func `an owner shares its instance with every scope below it`(lifetime: Lifetime, asksBelowFirst: Bool) async throws
    {
        let root = Container()
        let owner = Container(parent: root) {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        let child = Container(parent: owner)
        let grandchild = try await child.openScope("grandchild")
        let order = asksBelowFirst ? [grandchild, child, owner] : [owner, child, grandchild]
        let thing = try await order[0].resolve(Thing.self)
        let withArguments = try await order[0].resolve(Thing.self, arguments: 1)
        for container in order {
            #expect(try await container.resolve(Thing.self) === thing)
            #expect(try await container.resolve(Thing.self, arguments: 1) === withArguments)
        }
        #expect(try await root.optional(Thing.self) == nil)
    }

    @Test(arguments: Lifetime.asked)
    func `each scope has its own instance, made by the container asked`(lifetime: Lifetime) async throws {
        let root = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        let containers = [root, try await root.openScope(1), try await root.openScope(2), Container(parent: root)]
        var things: [Thing] = []
        for container in containers {
            things.append(try await container.resolve(Thing.self))
            things.append(try await container.resolve(Thing.self, arguments: 1))
        }
        #expect(Set(things.map(ObjectIdentifier.init)).count == 8)
        for (index, container) in containers.enumerated() {
            #expect(try await container.resolve(Thing.self) === things[2 * index])
            #expect(try await container.resolve(Thing.self, arguments: 1) === things[2 * index + 1])
        }
    }

    @Test func `instances are kept through other registrations and resets of other services`() async throws {
        let root = Container { for lifetime in Lifetime.shared { Self.registration(lifetime) } }
        let scope = try await root.openScope("scope")
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await scope.resolve(qualifier: lifetime.name)) }
        try await root.register(Int.self, instance: 1)
        try await scope.register(String.self, instance: "")
        try await root.reset(String.self)
        for (thing, lifetime) in zip(things, Lifetime.shared) {
            #expect(try await scope.resolve(Thing.self, qualifier: lifetime.name) === thing)
        }
    }

    /// A thing qualified by the name of its lifetime.
    static func registration(_ lifetime: Lifetime) -> Registration<Thing> {
        Registration(Thing.self, qualifier: lifetime.name, lifetime: lifetime) { _ in Thing() }
    }

    // MARK: Where dependencies come from

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.asked)
    func `what belongs to the container asked takes its dependencies from there`(lifetime: Lifetime) async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration((any Named).self, lifetime: lifetime) { r in try await ObjectNamed(name: r.resolve()) }
        }
        let child = Container(parent: parent) { Registration(String.self) { _ in "child" } }
        #expect(try await child.resolve((any Named).self).name == "child")
        #expect(try await parent.resolve((any Named).self).name == "parent")
        #expect(try await child.resolve((any Named).self).name == "child")
    }

    @Test(arguments: Lifetime.owned)
    func `what belongs to its owner takes its dependencies from there, whoever asks`(lifetime: Lifetime) async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration((any Named).self, lifetime: lifetime) { r in try await ObjectNamed(name: r.resolve()) }
        }
        let child = Container(parent: parent) { Registration(String.self) { _ in "child" } }
        #expect(try await child.resolve((any Named).self).name == "parent")
    }

    // MARK: Values

    @Test(arguments: Lifetime.kept)
    func `a value is shared like an object`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Value.self, lifetime: lifetime) { _ in Value(number: runs.increment()) }
            Registration((any Named).self, lifetime: lifetime) { _ in ValueNamed(name: "\(runs.increment())") }
            Registration(Value.self, lifetime: lifetime) { (_, factor: Int) in Value(number: runs.increment() * factor)
            }
        }
        #expect(try await container.resolve(Value.self) == Value(number: 1))
        #expect(try await container.resolve(Value.self) == Value(number: 1))
        #expect(try await container.resolve((any Named).self).name == "2")
        #expect(try await container.resolve((any Named).self).name == "2")
        #expect(try await container.resolve(Value.self, arguments: 10) == Value(number: 30))
        #expect(try await container.resolve(Value.self, arguments: 10) == Value(number: 30))
    }

    @Test func `a value is shared within a graph, and never as a transient`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Value.self, lifetime: .graph) { _ in Value(number: runs.increment()) }
            Registration(Int.self, lifetime: .transient) { _ in runs.increment() }
            Registration([Value].self) { r in try await [r.resolve(), r.resolve()] }
            Registration([Int].self) { r in try await [r.resolve(), r.resolve()] }
        }
        #expect(try await container.resolve([Value].self) == [Value(number: 1), Value(number: 1)])
        #expect(try await container.resolve([Int].self) == [2, 3])
    }

    // MARK: The default

    @Test func `the default lifetime is graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Pair.self) { r in try await Pair(first: r.resolve(), second: r.resolve()) }
        }
        #expect(try await container.resolve(Pair.self).isShared)
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `the default lifetime can be changed for a container, and not for its children`() async throws {
        let container = Container(defaultLifetime: .singleton) {
            Registration(Thing.self) { _ in Thing() }
            Registration(using: { (thing: Thing) in Pair(first: thing, second: thing) })
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        try await container.register(Thing.self, qualifier: "late") { _ in Thing() }
        #expect(
            try await container.resolve(Thing.self, qualifier: "late")
                === container.resolve(Thing.self, qualifier: "late"))
        let child = Container(parent: container) { Registration(Thing.self, qualifier: "child") { _ in Thing() } }
        #expect(try await child.resolve(Thing.self) === thing)
        #expect(
            try await child.resolve(Thing.self, qualifier: "child")
                !== child.resolve(Thing.self, qualifier: "child"))
    }
}

/// What is shared within one resolution: DESIGN 3.2.
@Suite(.timeLimit(.minutes(10))) struct GraphTests {
    private struct Left: Sendable { let leaf: Thing }
    private struct Right: Sendable { let leaf: Thing }
    private struct Top: Sendable {
        let left: Left
        let right: Right
        let leaf: Thing
        var isShared: Bool { left.leaf === right.leaf && left.leaf === leaf }
    }

    @Test func `a graph instance is shared within one resolution and not between two`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self) { r in try await Left(leaf: r.resolve()) }
            Registration(Right.self) { r in try await Right(leaf: r.resolve()) }
            Registration(Top.self) { r in
                try await Top(left: r.resolve(), right: r.resolve(), leaf: r.resolve())
            }
        }
        let (one, two) = (try await container.resolve(Top.self), try await container.resolve(Top.self))
        #expect(one.isShared && two.isShared)
        #expect(one.leaf !== two.leaf)
    }

    @Test func `a graph instance is shared through using, whose dependencies are made side by side`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(using: { Thing(runs.increment()) })
            Registration(using: Left.init)
            Registration(using: Right.init)
            Registration(using: Top.init)
        }
        #expect(try await container.resolve(Top.self).isShared)
        #expect(runs.value == 1)
        #expect(try await container.resolve(Top.self).isShared)
        #expect(runs.value == 2)
    }

    @Test func `a graph instance is shared with child tasks of a factory`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Pair.self) { r in
                async let first = r.resolve(Thing.self)
                async let second = r.resolve(Thing.self)
                return try await Pair(first: first, second: second)
            }
        }
        #expect(try await container.resolve(Pair.self).isShared)
    }

    @Test func `a graph instance is shared through a transient in between`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self, lifetime: .transient) { r in try await Left(leaf: r.resolve()) }
            Registration(Pair.self) { r in
                let left = try await r.resolve(Left.self)
                return try await Pair(first: left.leaf, second: r.resolve())
            }
        }
        #expect(try await container.resolve(Pair.self).isShared)
    }

    @Test func `a graph instance is shared by those who give equal arguments`() async throws {
        let container = Container {
            Registration(Thing.self) { (_, number: Int, text: String) in Thing(number) }
            Registration([Thing].self) { r in
                [
                    try await r.resolve(Thing.self, arguments: 1, "a"),
                    try await r.resolve(Thing.self, arguments: 1, "a"),
                    try await r.resolve(Thing.self, arguments: 2, "a"),
                    try await r.resolve(Thing.self, arguments: 1, "b"),
                ]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things[0] === things[1])
        #expect(things.map(\.number) == [1, 1, 2, 1])
        #expect(things[3] !== things[0])
    }

    @Test func `a graph is shared by a factory that asks a captured container`() async throws {
        let parent = Container { Registration(Thing.self) { _ in Thing() } }
        try await parent.register(Pair.self) { r in
            try await Pair(first: r.resolve(), second: parent.resolve())
        }
        #expect(try await parent.resolve(Pair.self).isShared)
    }

    @Test(arguments: Lifetime.shared)
    func `a shared creation starts a graph of its own`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Pair.self, lifetime: lifetime) { r in try await Pair(first: r.resolve(), second: r.resolve()) }
            Registration([Thing].self) { r in
                let own = try await r.resolve(Thing.self)
                let pair = try await r.resolve(Pair.self)
                return try await [own, pair.first, pair.second, r.resolve()]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things[1] === things[2])
        #expect(things[0] === things[3])
        #expect(things[0] !== things[1])
    }

    @Test func `two shared creations in one resolution have a graph each`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self, lifetime: .singleton) { r in try await Left(leaf: r.resolve()) }
            Registration(Right.self, lifetime: .singleton) { r in try await Right(leaf: r.resolve()) }
            Registration(using: Top.init)
        }
        let top = try await container.resolve(Top.self)
        #expect(top.left.leaf !== top.right.leaf)
        #expect(top.leaf !== top.left.leaf)
    }
}

/// Shared while somebody holds it: DESIGN 3.2.
@Suite(.timeLimit(.minutes(10))) struct WeakTests {
    /// Waits until nobody holds an object any more: a task that has just given it away may hold it a moment longer.
    private func isGone(_ reference: WeakReference<Thing>) async {
        while reference.instance != nil { await Task.yield() }
    }

    @Test func `a weak object is shared while somebody holds it, and made again after that`() async throws {
        let runs = Counter()
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing(runs.increment()) } }
        var held: Thing? = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === held)
        let reference = WeakReference(held!)
        held = nil
        await isGone(reference)
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `a weak object with arguments is dropped for itself`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { (_, number: Int) in Thing(number) } }
        let one = try await container.resolve(Thing.self, arguments: 1)
        var two: Thing? = try await container.resolve(Thing.self, arguments: 2)
        let reference = WeakReference(two!)
        two = nil
        await isGone(reference)
        #expect(try await container.resolve(Thing.self, arguments: 1) === one)
        #expect(try await container.resolve(Thing.self, arguments: 2).number == 2)
    }

    @Test func `a weak object behind a protocol is shared, and dropped when nobody holds it`() async throws {
        let runs = Counter()
        let container = Container {
            Registration((any Named).self, lifetime: .weak) { _ in ObjectNamed(name: "\(runs.increment())") }
        }
        var held: (any Named)? = try await container.resolve((any Named).self)
        #expect(try await container.resolve((any Named).self).name == "1")
        let reference = WeakReference(held as! ObjectNamed)
        held = nil
        while reference.instance != nil { await Task.yield() }
        #expect(try await container.resolve((any Named).self).name == "2")
    }

    @Test func `a weak value is never shared`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: .weak) { _ in runs.increment() }
            Registration(String.self, lifetime: .weak) { _ in "a string too long to be a small one \(runs.increment())"
            }
            Registration(Value.self, lifetime: .weak) { _ in Value(number: runs.increment()) }
            Registration([Int].self, lifetime: .weak) { _ in [runs.increment()] }
            Registration((any Named).self, lifetime: .weak) { _ in ValueNamed(name: "\(runs.increment())") }
        }
        for _ in 0..<2 {
            let held = (
                try await container.resolve(Int.self), try await container.resolve(String.self),
                try await container.resolve(Value.self), try await container.resolve([Int].self),
                try await container.resolve((any Named).self)
            )
            withExtendedLifetime(held) {}
        }
        #expect(runs.value == 10)
    }

    @Test func `those who wait for one creation of a weak value all get it`() async throws {
        let factory = DrivenFactory<Value>()
        let container = Container { Registration(Value.self, lifetime: .weak) { _ in try await factory.run() } }
        let askers = (0..<3).map { _ in Task { try await container.resolve(Value.self) } }
        await container.core.waiters(of: Value.self, reach: 3)
        factory.answer(Value(number: 1))
        for asker in askers { #expect(try await asker.value == Value(number: 1)) }
    }

    @Test func `a weak object asked for as an optional is the one that is held`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing() } }
        let held = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing?.self) === held)
        #expect(try await container.optional(Thing.self) === held)
    }

    @Test func `a container does not hold the weak objects that it has made`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { (_, number: Int) in Thing(number) } }
        var references: [WeakReference<Thing>] = []
        for number in 0..<200 {
            references.append(WeakReference(try await container.resolve(Thing.self, arguments: number)))
        }
        for reference in references { await isGone(reference) }
    }

    @Test func `a weak object lives as long as a service that was given it`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .weak) { _ in Thing() }
            Registration([Thing].self, lifetime: .graph) { r in try await [r.resolve()] }
        }
        var held: [Thing]? = try await container.resolve([Thing].self)
        let reference = WeakReference(held![0])
        #expect(try await container.resolve(Thing.self) === held![0])
        held = nil
        await isGone(reference)
    }
}

/// Forgetting and disposing: DESIGN 3.2.
@Suite(.timeLimit(.minutes(10))) struct ResetTests {
    @Test(arguments: Lifetime.shared)
    func `reset of a lifetime forgets its instances and no others`(lifetime: Lifetime) async throws {
        let container = Container { for lifetime in Lifetime.shared { SharingTests.registration(lifetime) } }
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await container.resolve(qualifier: lifetime.name)) }
        try await container.reset(lifetime)
        for (thing, other) in zip(things, Lifetime.shared) {
            let now = try await container.resolve(Thing.self, qualifier: other.name)
            #expect((now === thing) == (other != lifetime))
        }
    }

    @Test(arguments: Lifetime.shared)
    func `reset of a service forgets it for all arguments, and no other service`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
            Registration(ObjectNamed.self, lifetime: lifetime) { _ in ObjectNamed(name: "") }
        }
        let (thing, one) = (
            try await container.resolve(Thing.self), try await container.resolve(Thing.self, arguments: 1)
        )
        let other = try await container.resolve(ObjectNamed.self)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Thing.self, arguments: 1) !== one)
        #expect(try await container.resolve(ObjectNamed.self) === other)
    }

    @Test func `reset of a service takes the qualifier named and no other`() async throws {
        let container = Container {
            for name in ["a", "b"] {
                Registration(Thing.self, qualifier: name, lifetime: .singleton) { _ in Thing() }
            }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
        }
        let a = try await container.resolve(Thing.self, qualifier: "a")
        let b = try await container.resolve(Thing.self, qualifier: "b")
        let unqualified = try await container.resolve(Thing.self)
        try await container.reset(Thing.self, qualifier: "a")
        #expect(try await container.resolve(Thing.self, qualifier: "a") !== a)
        #expect(try await container.resolve(Thing.self, qualifier: "b") === b)
        #expect(try await container.resolve(Thing.self) === unqualified)
    }

    @Test(arguments: Lifetime.shared)
    func `reset of arguments forgets that one instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "q", lifetime: lifetime) { (_, number: Int, text: String) in Thing() }
        }
        let one = try await container.resolve(Thing.self, qualifier: "q", arguments: 1, "a")
        let two = try await container.resolve(Thing.self, qualifier: "q", arguments: 2, "a")
        try await container.reset(Thing.self, qualifier: "q", arguments: 1, "a")
        #expect(try await container.resolve(Thing.self, qualifier: "q", arguments: 1, "a") !== one)
        #expect(try await container.resolve(Thing.self, qualifier: "q", arguments: 2, "a") === two)
    }

    @Test func `reset of arguments that nobody asked for does nothing`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing() }
        }
        let one = try await container.resolve(Thing.self, arguments: 1)
        try await container.reset(Thing.self, arguments: 2)
        try await container.reset(Thing.self, arguments: "1")
        try await container.reset(ObjectNamed.self, arguments: 1)
        #expect(try await container.resolve(Thing.self, arguments: 1) === one)
    }

    @Test func `reset of arguments means what is behind a forwarded type where that is registered`() async throws {
        let app = Container {
            Registration(ObjectNamed.self, lifetime: .scoped) { (_, name: String) in ObjectNamed(name: name) }
                .implements((any Named).self)
        }
        let child = Container(parent: app) {
            Registration(ObjectNamed.self, lifetime: .scoped) { (_, name: String) in ObjectNamed(name: "own " + name) }
        }
        let own = try await child.resolve(ObjectNamed.self, arguments: "a")
        let inherited = try await child.resolve((any Named).self, arguments: "a")
        #expect((own.name, inherited.name) == ("own a", "a"))
        try await child.reset((any Named).self, arguments: "a")
        #expect(try await child.resolve((any Named).self, arguments: "a") as? ObjectNamed !== inherited as? ObjectNamed)
        #expect(try await child.resolve(ObjectNamed.self, arguments: "a") === own)
    }

    @Test func `reset of everything forgets what the container has cached, and keeps registrations`() async throws {
        let container = Container { for lifetime in Lifetime.shared { SharingTests.registration(lifetime) } }
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await container.resolve(qualifier: lifetime.name)) }
        try await container.reset()
        for (thing, lifetime) in zip(things, Lifetime.shared) {
            #expect(try await container.resolve(Thing.self, qualifier: lifetime.name) !== thing)
        }
    }

    @Test func `reset leaves an instance registration`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, instance: Thing(7)).onDispose { _ in disposed.increment() }
        }
        try await container.reset()
        try await container.reset(.singleton)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self).number == 7)
        #expect(disposed.value == 0)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `reset of a keyedBy registration goes by the key of the arguments`() async throws {
        let container = Container {
            Registration(Thing.self, keyedBy: { (text: String) in text.lowercased() }) { _, text in Thing(text.count) }
        }
        let one = try await container.resolve(Thing.self, arguments: "One")
        let three = try await container.resolve(Thing.self, arguments: "three")
        try await container.reset(Thing.self, arguments: "oNE")
        #expect(try await container.resolve(Thing.self, arguments: "ONE") !== one)
        #expect(try await container.resolve(Thing.self, arguments: "Three") === three)
    }

    @Test func `a keyedBy registration whose arguments are not hashable is reset as a service`() async throws {
        struct Style: Sendable { let name: String }
        let container = Container {
            Registration(Thing.self, keyedBy: { (style: Style) in style.name }) { _, style in Thing() }
        }
        let thing = try await container.resolve(Thing.self, arguments: Style(name: "a"))
        #expect(try await container.resolve(Thing.self, arguments: Style(name: "a")) === thing)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self, arguments: Style(name: "a")) !== thing)
    }

    // MARK: Where

    @Test(arguments: Lifetime.owned)
    func `reset in a child does not touch what the parent owns`(lifetime: Lifetime) async throws {
        let parent = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() } }
        let child = Container(parent: parent)
        let thing = try await child.resolve(Thing.self)
        try await child.reset()
        try await child.reset(lifetime)
        try await child.reset(Thing.self)
        #expect(try await child.resolve(Thing.self) === thing)
    }

    @Test(arguments: Lifetime.asked)
    func `a scope's instance of a parent's registration is reset in the scope`(lifetime: Lifetime) async throws {
        let disposed = Log<Int>()
        let runs = Counter()
        let parent = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
                .onDispose { disposed.append($0.number) }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        let scope = try await parent.openScope("scope")
        #expect(try await parent.resolve(Thing.self).number == 1)
        #expect(try await scope.resolve(Thing.self).number == 2)
        try await parent.reset(Thing.self)
        #expect(disposed.entries == [1])
        #expect(try await scope.resolve(Thing.self).number == 2)
        try await scope.reset(Thing.self)
        #expect(disposed.entries == [1, 2])
        #expect(try await scope.resolve(Thing.self).number == 3)
        try await scope.reset(lifetime)
        #expect(disposed.entries == [1, 2, 3])
        _ = try await scope.resolve(Thing.self, arguments: 10)
        try await scope.reset(Thing.self, arguments: 10)
        #expect(disposed.entries == [1, 2, 3, 10])
    }

    @Test func `throughAncestors goes up, from the container asked`() async throws {
        let disposed = Log<Int>()
        func thing(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, qualifier: "\(number)", lifetime: .singleton) { _ in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        let root = Container { thing(1) }
        let middle = Container(parent: root) { thing(2) }
        let leaf = Container(parent: middle) { thing(3) }
        let below = Container(parent: leaf) { thing(4) }
        for number in 1...4 { _ = try await below.resolve(Thing.self, qualifier: "\(number)") }
        try await leaf.reset(.singleton, throughAncestors: true)
        #expect(disposed.entries == [3, 2, 1])
        #expect(try below.ready(Thing.self, qualifier: "4").number == 4)
    }

    @Test func `throughAncestors works for a service`() async throws {
        let root = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(ObjectNamed.self, lifetime: .singleton) { _ in ObjectNamed(name: "") }
        }
        let child = Container(parent: root)
        let (thing, other) = (try await child.resolve(Thing.self), try await child.resolve(ObjectNamed.self))
        try await child.reset(Thing.self, throughAncestors: true)
        #expect(try await child.resolve(Thing.self) !== thing)
        #expect(try await child.resolve(ObjectNamed.self) === other)
    }

    // MARK: Disposal

    @Test func `reset disposes newest first, and waits for it`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
                .onDispose { thing in
                    await Task.yield()
                    disposed.append(thing.number)
                }
            Registration(Thing.self, lifetime: .singleton) { r in
                // Complete after its dependency.
                _ = try await r.resolve(Thing.self, arguments: 3)
                return Thing(4)
            }
            .onDispose { disposed.append($0.number) }
        }
        for number in [1, 2] { _ = try await container.resolve(Thing.self, arguments: number) }
        _ = try await container.resolve(Thing.self)
        try await container.reset()
        #expect(disposed.entries == [4, 3, 2, 1])
        try await container.dispose()
        #expect(disposed.entries == [4, 3, 2, 1])
    }

    @Test func `an onDispose that throws stops no other, and all errors come back together`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
                .onDispose { thing in
                    disposed.increment()
                    if thing.number != 2 { throw TestError(thing.number) }
                }
        }
        var things: [Thing] = []
        for number in 1...3 { things.append(try await container.resolve(arguments: number)) }
        let error = await #expect(throws: DisposalError.self) { try await container.reset(.multiton) }
        #expect(error?.errors as? [TestError] == [TestError(3), TestError(1)])
        #expect(disposed.value == 3)
        #expect(try await container.resolve(Thing.self, arguments: 1) !== things[0])
        try await container.reset(Thing.self, arguments: 2)
    }

    @Test func `the errors of ancestors come back too`() async throws {
        func failing(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, qualifier: "\(number)", lifetime: .singleton) { _ in Thing(number) }
                .onDispose { throw TestError($0.number) }
        }
        let parent = Container { failing(1) }
        let child = Container(parent: parent) { failing(2) }
        for name in ["1", "2"] { _ = try await child.resolve(Thing.self, qualifier: name) }
        let error = await #expect(throws: DisposalError.self) {
            try await child.reset(.singleton, throughAncestors: true)
        }
        #expect(error?.errors as? [TestError] == [TestError(2), TestError(1)])
        _ = try? await parent.dispose()
    }

    @Test func `a disposal hook asks the container for the new instance`() async throws {
        let numbers = Log<Int>()
        let runs = Counter()
        let container = Container()
        try await container.register(
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(runs.increment()) }
                .onDispose { [weak container] old in
                    guard let container, old.number == 1 else { return }
                    numbers.append(try await container.resolve(Thing.self).number)
                })
        _ = try await container.resolve(Thing.self)
        try await container.reset(Thing.self)
        #expect(numbers.entries == [2])
    }

    @Test func `what was in flight at a reset of other arguments is kept`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in try await factory.run() }
        }
        let one = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began()
        let two = Task { try await container.resolve(Thing.self, arguments: 2) }
        await factory.began(2)
        try await container.reset(Thing.self, arguments: 1)
        factory.answer(Thing(10), run: 0)
        factory.answer(Thing(20), run: 1)
        #expect(try await one.value.number == 10)
        let kept = try await two.value
        #expect(try await container.resolve(Thing.self, arguments: 2) === kept)
        let again = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began(3)
        factory.answer(Thing(30), run: 2)
        #expect(try await again.value.number == 30)
    }

    @Test func `what was in flight at a reset is disposed once, with its container`() async throws {
        let factory = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
                .onDispose { disposed.append($0.number) }
        }
        let waiter = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.reset()
        factory.answer(Thing(1))
        _ = try await waiter.value
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `a disposed container cannot be reset`() async throws {
        let container = Container()
        try await container.dispose()
        let error = await #expect(throws: ResolutionError.self) { try await container.reset() }
        #expect(error?.code == .disposed)
    }

    // MARK: onDispose where nobody owns the end

    static let unowned: [Lifetime] = [.transient, .graph, .weak]

    @Test(arguments: unowned)
    func `register refuses an onDispose that would never run`(lifetime: Lifetime) async throws {
        let container = Container()
        let error = await #expect(throws: ResolutionError.self) {
            try await container.register(
                Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in })
        }
        #expect(error?.code == .invalidRegistration)
        #expect(error?.path.map(\.description) == ["Thing"])
        #expect(error?.description.contains(lifetime.name) == true)
        let withReason = await #expect(throws: ResolutionError.self) {
            try await container.register(
                Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing() }.onDispose { _, _ in })
        }
        #expect(withReason?.code == .invalidRegistration)
        #expect(await !container.isRegistered(Thing.self))
    }

    @Test(arguments: unowned)
    func `such an onDispose in the initialiser is thrown by the first resolve`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in }
            Registration(Int.self) { _ in 1 }
        }
        for _ in 0..<2 {
            let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
            #expect(error?.code == .invalidRegistration)
        }
        let optional = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing?.self) }
        #expect(optional?.code == .invalidRegistration)
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `an onDispose is refused by the lifetime that the container gives`() async throws {
        let registration = Registration(Thing.self) { _ in Thing() }.onDispose { _ in }
        await #expect(throws: ResolutionError.self) { try await Container().register(registration) }
        try await Container(defaultLifetime: .singleton).register(registration)
    }

    @Test(arguments: Lifetime.kept)
    func `an onDispose of every lifetime that is kept runs`(lifetime: Lifetime) async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) }
                .onDispose { disposed.append($0.number) }
                .onDispose { thing, reason in disposed.append(reason.error == nil ? thing.number + 1 : 0) }
        }
        _ = try await container.resolve(Thing.self)
        try await container.dispose()
        #expect(disposed.entries == [1, 2])
    }
}

/// Asking for what may not be registered: DESIGN 3.2 and 3.8.
@Suite(.timeLimit(.minutes(10))) struct OptionalTests {
    @Test func `a result of optional type asks for the optional`() async throws {
        let empty = Container()
        let none: Thing? = try await empty.resolve()
        #expect(none == nil)
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let some: Thing? = try await container.resolve()
        #expect(some != nil)
        #expect(try await container.resolve(Thing.self) === some)
    }

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.shared)
    func `resolving an optional gives the service when it is registered`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "q", lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        #expect(try await container.resolve(Thing?.self)?.number == 1)
        #expect(try await container.resolve(Thing?.self, qualifier: "q", arguments: 2)?.number == 2)
        #expect(try await container.resolve(Thing?.self, qualifier: "q2") == nil)
        #expect(try await container.resolve((any Named)?.self) == nil)
    }

    @Test func `an optional may be registered itself`() async throws {
        let container = Container {
            Registration(Int?.self) { _ in 1 }
            Registration(Int.self) { _ in 2 }
        }
        #expect(try await container.resolve(Int?.self) == 1)
        #expect(try await container.optional(Int.self) == 2)
    }

    @Test func `an optional of an optional crashes nobody`() async throws {
        let empty = Container()
        let none = try await empty.resolve(Int??.self)
        #expect(none == nil || none == .some(nil))
        let container = Container { Registration(Int.self) { _ in 1 } }
        #expect(try await container.resolve(Int??.self) == 1)
        #expect(try await container.resolve(Int???.self) == 1)
        let value: Int?? = try await container.optional(Int?.self)
        #expect(value == 1)
    }

    @Test func `optional gives nil for what is not registered, in both forms`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "q") { (_, number: Int) in Thing(number) }
            Registration([Int].self) { r in
                [
                    try await r.optional(Thing.self)?.number ?? 0,
                    try await r.optional(Thing.self, qualifier: "q", arguments: 2)?.number ?? 0,
                    try await r.optional(Thing.self, qualifier: "none")?.number ?? 0,
                    try await r.optional(Int.self, arguments: 1) ?? 0,
                ]
            }
        }
        #expect(try await container.optional(Thing.self)?.number == 1)
        #expect(try await container.optional(Thing.self, qualifier: "q", arguments: 2)?.number == 2)
        #expect(try await container.optional(Thing.self, qualifier: "none") == nil)
        #expect(try await container.optional(Int.self, arguments: 1) == nil)
        #expect(try await container.resolve([Int].self) == [1, 2, 0, 0])
    }

    @Test func `other argument types are no reason to answer nil`() async throws {
        let container = Container(parent: Container { Registration(Thing.self) { (_, number: Int) in Thing(number) } })
        let direct = await #expect(throws: ResolutionError.self) { try await container.optional(Thing.self) }
        let withArguments = await #expect(throws: ResolutionError.self) {
            try await container.optional(Thing.self, arguments: "a")
        }
        let wrapped = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing?.self) }
        #expect([direct?.code, withArguments?.code, wrapped?.code] == .init(repeating: .argumentMismatch, count: 3))
    }

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.shared)
    func `what the service itself misses is thrown`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { r in try await Thing(r.resolve(Int.self)) }
        }
        let direct = await #expect(throws: ResolutionError.self) { try await container.optional(Thing.self) }
        let wrapped = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing?.self) }
        #expect(direct?.code == .notRegistered)
        #expect(wrapped?.code == .notRegistered)
        #expect(wrapped?.path.map(\.description) == ["Thing", "Int"])
    }

    @Test func `what the factory throws is thrown`() async throws {
        let container = Container { Registration(Thing.self) { _ in throw TestError(1) } }
        await #expect(throws: TestError(1)) { try await container.optional(Thing.self) }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing?.self) }
    }

    @Test func `a using initialiser has its optional dependencies resolved`() async throws {
        struct Report: Sendable {
            let thing: Thing?
            let name: String?
        }
        let container = Container {
            Registration(using: Report.init)
            Registration(Thing.self) { _ in Thing(1) }
        }
        let report = try await container.resolve(Report.self)
        #expect(report.thing?.number == 1)
        #expect(report.name == nil)
    }
}
