import Testing

@testable import AsyncDI

/// Instances found by their arguments without a lock: which arguments are the same, and what is not found any more.
@Suite(.timeLimit(.minutes(10))) struct InstanceIndexTests {
    private final class Pool: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private func indexed(_ argument: some Hashable & Sendable) -> IndexedInstance {
        let hash = UInt32(truncatingIfNeeded: hashOfArguments(argument))
        return IndexedInstance(Arguments(argument), hash: hash, cell: StrongCell(0))
    }

    @Test func `what is inserted is found, through growth, and what is removed is not`() {
        let index = InstanceIndex()
        var retired: [AnyObject] = []
        let instances = (0..<500).map { indexed($0) }
        for instance in instances { index.insert(instance, retired: &retired) }
        for instance in instances { #expect(index.instance(withHash: instance.hash) === instance) }
        for instance in instances.dropFirst() {
            retired = []
            index.remove(instance, retired: &retired)
            #expect(retired.count == 1)
        }
        retired = []
        for instance in instances.dropFirst() {
            #expect(index.instance(withHash: instance.hash) == nil)
            index.remove(instance, retired: &retired)
        }
        #expect(retired.isEmpty)
        #expect(index.instance(withHash: instances[0].hash) === instances[0])
        index.removeAll(retired: &retired)
        #expect(retired.count == 1)
        #expect(index.instance(withHash: instances[0].hash) == nil)
    }

    @Test func `the mark of what was removed is never found, also by its own hash`() {
        let index = InstanceIndex()
        let instance = indexed(Bad(0))
        var retired: [AnyObject] = []
        index.insert(instance, retired: &retired)
        index.remove(instance, retired: &retired)
        #expect(index.instance(withHash: IndexedInstance.removed.hash) == nil)
        #expect(index.instance(withHash: instance.hash) == nil)
    }

    @Test func `places of what was removed are used again`() {
        let index = InstanceIndex()
        for round in 0..<10_000 {
            let instance = indexed(round)
            var retired: [AnyObject] = []
            index.insert(instance, retired: &retired)
            #expect(index.instance(withHash: instance.hash) === instance)
            index.remove(instance, retired: &retired)
        }
        #expect(index.capacity == 8)
    }

    @Test func `arguments with equal hashes get their own instances`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, key: Bad) in Pool("\(key.value)") }
        }
        for _ in 0..<3 {
            for value in 0..<5 {
                #expect(try await container.resolve(Pool.self, arguments: Bad(value)).text == "\(value)")
            }
        }
    }

    @Test func `an argument of a base class, an optional or an erased one is compared as such`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, key: Base) in Pool("base \(key.id)") }
            Registration(Pool.self, lifetime: .multiton) { (_, key: Int?) in Pool("optional \(key ?? -1)") }
            Registration(Pool.self, lifetime: .multiton) { (_, a: Base, b: Int?) in Pool("two \(a.id) \(b ?? -1)") }
        }
        let base: Base = Derived(1)
        let first = try await container.resolve(Pool.self, arguments: base)
        #expect(try await container.resolve(Pool.self, arguments: Base(1)) === first)
        #expect(try await container.resolve(Pool.self, arguments: Base(2)) !== first)
        let none = try await container.resolve(Pool.self, arguments: Int?.none)
        #expect(none.text == "optional -1")
        #expect(try await container.resolve(Pool.self, arguments: Int?.none) === none)
        #expect(try await container.resolve(Pool.self, arguments: Int?.some(3)).text == "optional 3")
        let both = try await container.resolve(Pool.self, arguments: base, Int?.none)
        #expect(both.text == "two 1 -1")
        #expect(try await container.resolve(Pool.self, arguments: Base(1), Int?.none) === both)
    }

    @Test func `a computed key decides, not the argument`() async throws {
        let container = Container {
            Registration(Pool.self, keyedBy: { (text: String) in text.count }) { _, text in Pool(text) }
        }
        let first = try await container.resolve(Pool.self, arguments: "ab")
        #expect(try await container.resolve(Pool.self, arguments: "cd") === first)
        #expect(try await container.resolve(Pool.self, arguments: "cde").text == "cde")
    }

    @Test func `a hit counts as use`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 2)) { (_, text: String) in Pool(text) }
        }
        let first = try await container.resolve(Pool.self, arguments: "a")
        let second = try await container.resolve(Pool.self, arguments: "b")
        #expect(try await container.resolve(Pool.self, arguments: "a") === first)
        _ = try await container.resolve(Pool.self, arguments: "c")
        #expect(try await container.resolve(Pool.self, arguments: "a") === first)
        #expect(try await container.resolve(Pool.self, arguments: "b") !== second)
    }

    @Test func `what was reset, replaced, unregistered or disposed is not found`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool("old \(text)") }
        }
        let first = try await container.resolve(Pool.self, arguments: "a")
        try await container.reset(.multiton)
        let second = try await container.resolve(Pool.self, arguments: "a")
        #expect(second !== first)
        try await container.reset(Pool.self, arguments: "a")
        #expect(try await container.resolve(Pool.self, arguments: "a") !== second)
        try await container.register {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool("new \(text)") }
        }
        #expect(try await container.resolve(Pool.self, arguments: "a").text == "new a")
        _ = await container.unregister(Pool.self)
        await expect(.notRegistered) { _ = try await container.resolve(Pool.self, arguments: "a") }
        try await container.register {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool("last \(text)") }
        }
        _ = try await container.resolve(Pool.self, arguments: "a")
        try await container.dispose()
        await expect(.disposed) { _ = try await container.resolve(Pool.self, arguments: "a") }
    }

    @Test func `a scope finds them, and its own registration hides them`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool("outer \(text)") }
        }
        let outer = try await container.resolve(Pool.self, arguments: "a")
        try await container.withScope { scope in
            let inScope = try await scope.resolve(Pool.self, arguments: "a")
            #expect(inScope === outer)
        }
        try await container.withScope {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool("inner \(text)") }
        } operation: { scope in
            for _ in 0..<2 {
                let asked = try await [
                    scope.resolve(Pool.self, arguments: "a"), container.resolve(Pool.self, arguments: "a"),
                ]
                #expect(asked.map(\.text) == ["inner a", "inner a"])
            }
        }
        #expect(try await container.resolve(Pool.self, arguments: "a") === outer)
    }

    @Test func `an instance does not outlive its reset or its container through the index`() async throws {
        weak var first: Pool?
        weak var second: Pool?
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, text: String) in Pool(text) }
        }
        first = try await container.resolve(Pool.self, arguments: "a")
        #expect(first != nil)
        try await container.reset(.multiton)
        #expect(first == nil)
        second = try await container.resolve(Pool.self, arguments: "a")
        #expect(second != nil)
        try await container.dispose()
        #expect(second == nil)
    }
}

/// What arguments and qualifiers hold or do is the user's: where it ends and when it runs.
@Suite(.timeLimit(.minutes(10))) struct ArgumentOwnershipTests {
    private final class Pool: Sendable {}

    /// An argument whose end asks the container.
    private final class Asking: Hashable, Sendable {
        let child: Container
        let id: Int
        init(_ root: Container, _ id: Int) {
            child = Container(parent: root)
            self.id = id
        }
        static func == (first: Asking, second: Asking) -> Bool { first.id == second.id }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    @Test(arguments: [Lifetime.multiton, .multiton(capacity: 100), .multiton(idle: .seconds(600))])
    func `arguments of what was reset end outside the container's lock, and at once`(lifetime: Lifetime) async throws {
        let root = Container { Registration(Pool.self, lifetime: lifetime) { (_, _: Asking) in Pool() } }
        weak var first: Asking?
        weak var second: Asking?
        do {
            let arguments = (Asking(root, 1), Asking(root, 2))
            (first, second) = arguments
            _ = try await root.resolve(Pool.self, arguments: arguments.0)
            _ = try await root.resolve(Pool.self, arguments: arguments.1)
            try await root.reset(Pool.self, arguments: arguments.0)
        }
        #expect(first == nil, "nothing but the cache had it")
        #expect(second != nil)
        if let argument = second { try await root.reset(Pool.self, arguments: argument) }
        #expect(second == nil)
        _ = try await root.resolve(Pool.self, arguments: Asking(root, 3))
    }

    @Test func `an argument is hashed only where instances are found by it`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .transient) { (_, _: Counted) in Pool() }
            Registration(Int.self, keyedBy: { (_: Counted) in 1 }) { _, _ in 1 }
            Registration(String.self, lifetime: .transient) { (_, _: Counted, _: Int) in "" }
            Registration(Double.self, lifetime: .multiton) { (_, _: Counted) in 1 }
        }
        let argument = Counted()
        _ = try await container.resolve(Pool.self, arguments: argument)
        _ = try await container.resolve(Int.self, arguments: argument)
        _ = try await container.resolve(Int.self, arguments: argument)
        _ = try await container.resolve(String.self, arguments: argument, 1)
        #expect(argument.hashes.withLock { $0 } == 0)
        _ = try await container.resolve(Double.self, arguments: argument)
        #expect(argument.hashes.withLock { $0 } > 0)
    }

    private final class Counted: Hashable, Sendable {
        let hashes = Locked(0)
        static func == (first: Counted, second: Counted) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hashes.withLock { $0 += 1 } }
    }

    /// A small plain value whose hash replaces a registration, which waits for everybody who reads a table.
    private struct Changing: Hashable, Sendable {
        let id: Int
        func hash(into hasher: inout Hasher) {
            _ = Container {
                Registration(Int.self) { _ in 1 }
                Registration(Int.self) { _ in 2 }
            }
            hasher.combine(id)
        }
    }

    @Test func `a hash may change containers`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: Changing) in Pool() }
            Registration(Int.self, lifetime: .multiton) { (_, number: Int, _: Changing) in number }
        }
        let pool = try await container.resolve(Pool.self, arguments: Changing(id: 1))
        #expect(try await container.resolve(Pool.self, arguments: Changing(id: 1)) === pool)
        for _ in 0..<2 { #expect(try await container.resolve(Int.self, arguments: 7, Changing(id: 1)) == 7) }
    }

    @Test func `a dropped container that decorates what it inherits is forgotten`() async throws {
        let root = Container { Registration(Pool.self, lifetime: .singleton) { _ in Pool() } }
        for _ in 0..<3 {
            _ = Container(parent: root) { Decoration(Pool.self) { _, inner in inner } }
        }
        #expect(root.core.withState { $0.decorators.isEmpty })
    }

    @Test func `a faulty registration that was decorated can be unregistered`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .transient) { _ in Pool() }.onDispose { _ in }
            Decoration(Pool.self) { _, inner in inner }
        }
        await expect(.invalidRegistration) { _ = try await container.resolve(Pool.self) }
        let isGone = await container.unregister(Pool.self)
        #expect(isGone)
        await expect(.notRegistered) { _ = try await container.resolve(Pool.self) }
    }

    @Test func `a qualifier of a subclass is found by its base class`() async throws {
        let derived: Name = Subname("a")
        let container = Container {
            Registration(Int.self, qualifier: Subname("a"), instance: 1)
            Registration(Int.self, qualifier: derived, lifetime: .singleton) { _ in 2 }
            Registration(String.self, qualifier: Subname("a"), lifetime: .singleton) { _ in "text" }
        }
        #expect(try await container.resolve(Int.self, qualifier: Subname("a")) == 2)
        for _ in 0..<2 { #expect(try await container.resolve(Int.self, qualifier: derived) == 2) }
        for _ in 0..<2 { #expect(try await container.resolve(String.self, qualifier: derived) == "text") }
        let name: any Qualifier = derived
        #expect(try await container.resolve(String.self, qualifier: name) == "text")
    }

    private class Name: Qualifier, @unchecked Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static func == (first: Name, second: Name) -> Bool { first.text == second.text }
        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    private final class Subname: Name, @unchecked Sendable {}
}

private struct Bad: Hashable, Sendable {
    let value: Int
    init(_ value: Int) { self.value = value }
    func hash(into hasher: inout Hasher) {}
}

private class Base: Hashable, @unchecked Sendable {
    let id: Int
    init(_ id: Int) { self.id = id }
    static func == (first: Base, second: Base) -> Bool { first.id == second.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

private final class Derived: Base, @unchecked Sendable {}
