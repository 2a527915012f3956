import Testing

@testable import AsyncDI

/// Instances found by their arguments without a lock: equality of arguments, and removed instances.
@Suite(.timeLimit(.minutes(10))) struct InstanceIndexTests {
    private final class Pool: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private func indexed(_ argument: some Hashable & Sendable) -> IndexEntry {
        let arguments = Arguments(argument)
        return IndexEntry(ArgumentKey(arguments), arguments, cell: StrongCell(0))
    }

    @Test func `an inserted instance is found, through growth, and a removed one is not`() {
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

    @Test func `the mark of a removed instance is never found, also by its own hash`() {
        let mark = IndexEntry.removed.hash
        // Its mark is where the search for the mark's hash begins.
        let instance = (0...).lazy.map { indexed($0) }.first { $0.hash % 8 == mark % 8 }!
        let index = InstanceIndex()
        var retired: [AnyObject] = []
        index.insert(instance, retired: &retired)
        #expect(index.capacity == 8)
        index.remove(instance, retired: &retired)
        #expect(index.instance(withHash: mark) == nil)
        #expect(index.instance(withHash: instance.hash) == nil)
    }

    @Test func `places of removed instances are used again`() {
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

    @Test func `an instance that was reset, replaced, unregistered or disposed is not found`() async throws {
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

    @Test func `a scope finds instances above it, and its own registration hides them`() async throws {
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

private class Base: Hashable, @unchecked Sendable {
    let id: Int
    init(_ id: Int) { self.id = id }
    static func == (first: Base, second: Base) -> Bool { first.id == second.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

private final class Derived: Base, @unchecked Sendable {}
