import AsyncDI
import Testing

private protocol Plugin: Sendable {
    var name: String { get }
}
private struct Named: Plugin {
    let name: String
}

/// Every value has the same hash.
private struct Clash: Hashable, Sendable {
    let value: Int
    func hash(into hasher: inout Hasher) {}
}

/// The forms of `registerMany`.
@Suite(.timeLimit(.minutes(10))) struct RegisterManyTests {
    @Test func `the key and the lifetime come in either order`() async throws {
        let container = Container()
        try await container.registerMany(Thing.self, key: "a", lifetime: .singleton) { _ in Thing(1) }
        try await container.registerMany(Thing.self, lifetime: .singleton, key: "b") { _ in Thing(2) }
        try await container.registerMany(Thing.self, qualifier: "q", lifetime: .transient, key: "c") { _ in Thing(3) }
        try await container.registerMany(lifetime: .transient, key: "d") { _ in Thing(4) }
        let first = try await container.resolveMap(Thing.self, keyedBy: String.self)
        let second = try await container.resolveMap(Thing.self, keyedBy: String.self)
        #expect(first.mapValues(\.number) == ["a": 1, "b": 2, "d": 4])
        #expect(first["a"] === second["a"])
        #expect(first["b"] === second["b"])
        #expect(first["d"] !== second["d"])
        #expect(try await container.resolveMany(Thing.self, qualifier: "q").map(\.number) == [3])
    }

    @Test func `contributions whose keys have the same hash stay apart`() async throws {
        let container = Container()
        for value in 0..<3 {
            try await container.registerMany(Thing.self, key: Clash(value: value)) { _ in Thing(value) }
        }
        let things = try await container.resolveMap(Thing.self, keyedBy: Clash.self)
        #expect(things.count == 3)
        for (key, thing) in things { #expect(thing.number == key.value) }
        #expect(try await container.resolveMany(Thing.self).map(\.number) == [0, 1, 2])
    }

    @Test func `a registration is contributed with its hooks`() async throws {
        let log = Log<String>()
        let container = Container { Registration(Int.self, instance: 7) }
        try await container.registerMany(
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .injectProperties { resolver, thing in log.append("inject \(try await resolver.resolve(Int.self))") }
                .onCreate { _, thing in log.append("create \(thing.number)") }
                .onDispose { thing, reason in log.append("dispose \(thing.number)") }
                .eager(),
            key: "one")
        try await container.start()
        #expect(log.entries == ["inject 7", "create 1"])
        #expect(try await container.resolveMap(Thing.self, keyedBy: String.self)["one"]?.number == 1)
        try await container.dispose()
        #expect(log.entries == ["inject 7", "create 1", "dispose 1"])
    }

    @Test func `a registration by using is contributed under another type`() async throws {
        let container = Container { Registration(String.self, instance: "csv") }
        try await container.registerMany(Registration(using: Named.init(name:), as: (any Plugin).self), key: "csv")
        try await container.registerMany(Registration((any Plugin).self) { _ in Named(name: "plain") })
        #expect(try await container.resolveMany((any Plugin).self).map(\.name) == ["csv", "plain"])
        #expect(try await container.resolveMap((any Plugin).self, keyedBy: String.self).keys.sorted() == ["csv"])
        #expect(try await container.optional((any Plugin).self) == nil)
    }

    @Test func `a registration that is a contribution already keeps its key, unless it is given another`() async throws
    {
        let container = Container()
        let keyed = Registration(Thing.self) { _ in Thing(1) }.intoMany(key: "own")
        try await container.registerMany(keyed)
        try await container.registerMany(keyed, key: 2)
        #expect(try await container.resolveMap(Thing.self, keyedBy: String.self).keys.sorted() == ["own"])
        #expect(try await container.resolveMap(Thing.self, keyedBy: Int.self).keys.sorted() == [2])
    }

    @Test func `an instance is contributed, and belongs to its creator`() async throws {
        let container = Container()
        let thing = Thing(5)
        try await container.registerMany(Thing.self, key: "a", instance: thing)
        try await container.registerMany((any Plugin).self, qualifier: "q", instance: Named(name: "ready"))
        try await container.registerMany(instance: "inferred")
        #expect(try await container.resolveMap(Thing.self, keyedBy: String.self)["a"] === thing)
        #expect(try await container.resolveMany((any Plugin).self, qualifier: "q").map(\.name) == ["ready"])
        #expect(try await container.resolveMany(String.self) == ["inferred"])
        try await container.reset()
        #expect(try await container.resolveMany(Thing.self)[0] === thing)
    }

    @Test func `equal keys follow the container's policy, in every form`() async throws {
        let container = Container(onDuplicate: .reject)
        try await container.registerMany(Thing.self, key: "a") { _ in Thing(1) }
        await expect(.duplicateRegistration) {
            try await container.registerMany(Thing.self, lifetime: .singleton, key: "a") { _ in Thing(2) }
        }
        await expect(.duplicateRegistration) {
            try await container.registerMany(Registration(Thing.self) { _ in Thing(3) }, key: "a")
        }
        await expect(.duplicateRegistration) {
            try await container.registerMany(Thing.self, key: "a", instance: Thing(4))
        }
        #expect(try await container.resolveMany(Thing.self).map(\.number) == [1])
    }

    @Test func `a registration with arguments, or by making, is no contribution`() async throws {
        let container = Container()
        await expect(.invalidRegistration) {
            try await container.registerMany(Registration(Thing.self) { (_, number: Int) in Thing(number) }, key: "a")
        }
        let error = await expect(.invalidRegistration) {
            try await container.registerMany(Registration(making: Thing.self) { _ in Thing() }, key: "a")
        }
        #expect(error?.description.contains("Remove .intoMany()") == true)
        #expect(try await container.resolveMany(Thing.self).isEmpty)
    }
}
