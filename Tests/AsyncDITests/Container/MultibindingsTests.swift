import AsyncDI
import Testing

private protocol Plugin: Sendable {
    var name: String { get }
}
private struct Named: Plugin, Equatable {
    let name: String
}
private struct Host: Sendable {
    let plugins: [any Plugin]
    let byName: [String: any Plugin]
}

@Suite(.timeLimit(.minutes(10)))
struct MultibindingsTests {
    @Test func `contributions come in the order of registration, an ancestor's first`() async throws {
        let parent = Container()
        try await parent.registerMany((any Plugin).self) { _ in Named(name: "1") }
        let child = Container(parent: parent) {
            Registration((any Plugin).self) { _ in Named(name: "3") }.intoMany()
        }
        try await parent.registerMany((any Plugin).self) { _ in Named(name: "2") }
        try await child.registerMany((any Plugin).self) { _ in Named(name: "4") }
        #expect(try await child.resolveMany((any Plugin).self).map(\.name) == ["1", "2", "3", "4"])
        #expect(try await parent.resolveMany((any Plugin).self).map(\.name) == ["1", "2"])
    }

    @Test func `the order does not depend on which contribution is ready first`() async throws {
        let slow = DrivenFactory<Named>()
        let container = Container {
            Registration((any Plugin).self, lifetime: .singleton) { _ in try await slow.run() }.intoMany()
            Registration((any Plugin).self, lifetime: .singleton) { _ in Named(name: "fast") }.intoMany()
        }
        async let plugins = container.resolveMany((any Plugin).self)
        await slow.began()
        slow.answer(Named(name: "slow"))
        #expect(try await plugins.map(\.name) == ["slow", "fast"])
        #expect(slow.count == 1)
    }

    @Test func `contributions that must be made are made concurrently`() async throws {
        let gate = Gate()
        let container = Container {
            for index in 0..<3 {
                Registration((any Plugin).self, lifetime: .singleton) { _ in
                    await gate.pass()
                    return Named(name: "\(index)")
                }
                .intoMany()
            }
        }
        async let plugins = container.resolveMany((any Plugin).self)
        await gate.arrived(3)
        gate.open()
        #expect(try await plugins.count == 3)
    }

    @Test func `a contribution has a lifetime like any registration`() async throws {
        let container = Container()
        try await container.registerMany(Thing.self, lifetime: .singleton) { _ in Thing() }
        try await container.registerMany(Thing.self, lifetime: .transient) { _ in Thing() }
        let first = try await container.resolveMany(Thing.self)
        let second = try await container.resolveMany(Thing.self)
        #expect(first[0] === second[0])
        #expect(first[1] !== second[1])
    }

    @Test func `a graph contribution is shared with the rest of its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration([Thing].self) { r in
                [try await r.resolve(Thing.self)] + (try await r.resolveMany(Thing.self))
            }
            Registration(Thing.self) { r in try await r.resolve(Thing.self) }.intoMany()
        }
        let things = try await container.resolve([Thing].self)
        #expect(things.count == 2 && things[0] === things[1])
    }

    @Test func `contributions with keys make a map; others, and those of other key types, are left out`() async throws {
        let container = Container()
        try await container.registerMany((any Plugin).self, key: "csv") { _ in Named(name: "csv") }
        try await container.registerMany((any Plugin).self, key: 7) { _ in Named(name: "seven") }
        try await container.registerMany((any Plugin).self) { _ in Named(name: "unkeyed") }
        let byName = try await container.resolveMap((any Plugin).self, keyedBy: String.self)
        #expect(byName.mapValues(\.name) == ["csv": "csv"])
        let byNumber = try await container.resolveMap((any Plugin).self, keyedBy: Int.self)
        #expect(byNumber.mapValues(\.name) == [7: "seven"])
        #expect(try await container.resolveMany((any Plugin).self).count == 3)
    }

    @Test func `a nearer contribution hides the one with the same key`() async throws {
        let parent = Container()
        try await parent.registerMany((any Plugin).self, key: "a") { _ in Named(name: "parent's a") }
        try await parent.registerMany((any Plugin).self, key: "b") { _ in Named(name: "parent's b") }
        let child = try await parent.openScope {
            Registration((any Plugin).self) { _ in Named(name: "child's a") }.intoMany(key: "a")
        }
        let map = try await child.resolveMap((any Plugin).self, keyedBy: String.self)
        #expect(map.mapValues(\.name) == ["a": "child's a", "b": "parent's b"])
        #expect(try await child.resolveMany((any Plugin).self).map(\.name) == ["child's a", "parent's b"])
        #expect(try await parent.resolveMap((any Plugin).self, keyedBy: String.self)["a"]?.name == "parent's a")
    }

    @Test func `equal keys in one container follow its policy`() async throws {
        let rejecting = Container(onDuplicate: .reject)
        try await rejecting.registerMany((any Plugin).self, key: "a") { _ in Named(name: "first") }
        await expect(.duplicateRegistration) {
            try await rejecting.registerMany((any Plugin).self, key: "a") { _ in Named(name: "second") }
        }
        let keeping = Container(onDuplicate: .keep)
        try await keeping.registerMany((any Plugin).self, key: "a") { _ in Named(name: "first") }
        try await keeping.registerMany((any Plugin).self, key: "a") { _ in Named(name: "second") }
        #expect(try await keeping.resolveMany((any Plugin).self).map(\.name) == ["first"])
        // Without keys there are no duplicates.
        try await rejecting.registerMany((any Plugin).self) { _ in Named(name: "x") }
        try await rejecting.registerMany((any Plugin).self) { _ in Named(name: "x") }
    }

    @Test func `qualifiers tell groups apart, and contributions are not the service`() async throws {
        let container = Container()
        try await container.registerMany((any Plugin).self, qualifier: "left") { _ in Named(name: "l") }
        try await container.registerMany((any Plugin).self) { _ in Named(name: "plain") }
        #expect(try await container.resolveMany((any Plugin).self, qualifier: "left").map(\.name) == ["l"])
        #expect(try await container.resolveMany((any Plugin).self, qualifier: "right").isEmpty)
        #expect(await !container.isRegistered((any Plugin).self))
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve((any Plugin).self) }
        #expect(error?.description.contains("resolveMany") == true)
    }

    @Test func `initializers take contributions as arrays and dictionaries`() async throws {
        let container = Container {
            Registration((any Plugin).self) { _ in Named(name: "a") }.intoMany(key: "a")
            Registration((any Plugin).self) { _ in Named(name: "b") }.intoMany()
            Registration(using: Host.init)
        }
        let host = try await container.resolve(Host.self)
        #expect(host.plugins.map(\.name) == ["a", "b"])
        #expect(host.byName.mapValues(\.name) == ["a": "a"])
        // An array without contributions is an error, not an empty array by accident.
        await expect(.notRegistered) { try await container.resolve([Int].self) }
        let none: [Int]? = try await container.resolve()
        #expect(none == nil)
    }

    @Test func `an error of one contribution is the caller's`() async throws {
        let container = Container()
        try await container.registerMany(Thing.self) { _ in Thing() }
        try await container.registerMany(Thing.self) { _ in throw TestError(3) }
        await #expect(throws: TestError(3)) { try await container.resolveMany(Thing.self) }
    }

    @Test func `a contribution that needs all contributions is a cycle, not a hang`() async throws {
        let container = Container()
        for lifetime in [Lifetime.transient, .graph, .singleton, .scoped] {
            try await container.registerMany(Thing.self, key: lifetime.name, lifetime: lifetime) { r in
                try await r.resolveMany(Thing.self)[0]
            }
            await expect(.circularDependency) {
                try await container.resolveMany(Thing.self)
            }
            await container.unregisterMany(Thing.self)
        }
    }

    @Test func `unregisterMany takes back contributions and disposes them, unregister leaves them`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .onDispose { disposed.append($0.number) }.intoMany()
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(2) }.onDispose { disposed.append($0.number) }
        }
        _ = try await (container.resolve(Thing.self), container.resolveMany(Thing.self))
        #expect(await container.unregister(Thing.self))
        #expect(try await container.resolveMany(Thing.self).map(\.number) == [1])
        #expect(await container.unregisterMany(Thing.self))
        #expect(await !container.unregisterMany(Thing.self))
        #expect(try await container.resolveMany(Thing.self).isEmpty)
        try await container.dispose()
        #expect(disposed.entries.sorted() == [1, 2])
    }

    @Test func `one contribution is taken back by its key, and the one that it hid answers again`() async throws {
        let disposed = Log<Int>()
        func thing(
            _ number: Int, _ key: some Hashable & Sendable, in group: (any Qualifier)? = nil
        ) -> Registration<Thing> {
            Registration(Thing.self, qualifier: group, lifetime: .singleton) { _ in Thing(number) }
                .onDispose { disposed.append($0.number) }.intoMany(key: key)
        }
        let root = Container { thing(1, "a") }
        let scope = try await root.openScope {
            thing(2, "a")
            thing(3, "b")
            thing(4, 1)
            thing(5, "b", in: .named("others"))
            Registration(Thing.self, instance: Thing(6))
        }
        #expect(try await scope.resolveMany(Thing.self).map(\.number) == [2, 3, 4])
        #expect(await scope.unregister(Thing.self, contributedAs: "a"))
        #expect(await !scope.unregister(Thing.self, contributedAs: "a"), "the root's stays")
        #expect(try await scope.resolveMap(Thing.self, keyedBy: String.self).mapValues(\.number) == ["a": 1, "b": 3])
        // Neither a key of another type nor one in another group is meant.
        #expect(await !scope.unregister(Thing.self, contributedAs: "1"))
        #expect(await !scope.unregister(Thing.self, contributedAs: 1, qualifier: .named("others")))
        #expect(await scope.unregister(Thing.self, contributedAs: "b", qualifier: .named("others")))
        #expect(try await scope.resolveMany(Thing.self).map(\.number) == [1, 3, 4])
        #expect(try await scope.resolve(Thing.self).number == 6)
        try await root.dispose()
        #expect(disposed.entries.sorted() == [1, 2, 3, 4])
    }

    @Test func `a contribution may be scoped, and a singleton that would hold it is refused`() async throws {
        let root = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.intoMany()
            Registration([Thing].self, lifetime: .singleton) { r in try await r.resolveMany(Thing.self) }
        }
        try await root.withScope { scope in
            let first = try await scope.resolveMany(Thing.self)
            #expect(try await scope.resolveMany(Thing.self)[0] === first[0])
        }
        await expect(.captiveDependency) { try await root.resolve([Thing].self) }
    }

    @Test func `a contribution cannot take arguments`() async throws {
        let container = Container()
        await expect(.invalidRegistration) {
            try await container.register(Registration(Thing.self) { (_, number: Int) in Thing(number) }.intoMany())
        }
    }

    @Test func `asking a disposed container for many says so`() async throws {
        let container = Container()
        try await container.dispose()
        await expect(.disposed) { try await container.resolveMany(Thing.self) }
    }

    @Test func `keys of different types are different keys`() async throws {
        let container = Container()
        try await container.registerMany(String.self, key: 1) { _ in "Int" }
        try await container.registerMany(String.self, key: UInt8(1)) { _ in "UInt8" }
        #expect(try await container.resolveMap(String.self, keyedBy: Int.self) == [1: "Int"])
        #expect(try await container.resolveMap(String.self, keyedBy: UInt8.self) == [1: "UInt8"])
    }

    @Test func `contributions made together share a graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Thing.self) { r in try await r.resolve(Thing.self) }.intoMany()
            Registration(Thing.self) { r in try await r.resolve(Thing.self) }.intoMany(key: 1)
        }
        let things = try await container.resolveMany(Thing.self)
        #expect(things.count == 2 && things[0] === things[1])
        #expect(try await container.resolveMany(Thing.self)[0] !== things[0])
    }

    @Test func `a ready map needs no contributions with other keys`() async throws {
        let container = Container {
            Registration(String.self, lifetime: .singleton) { _ in "one" }.intoMany(key: 1)
            Registration(String.self, lifetime: .singleton) { _ in "two" }.intoMany(key: "2")
        }
        _ = try await container.resolveMap(String.self, keyedBy: Int.self)
        #expect(try container.ready([Int: String].self) == [1: "one"])
        await expect(.notReady) { try container.ready([String: String].self) }
    }

    @Test func `a collection is missing without contributions, and an optional one is nil`() async throws {
        let container = Container {
            Registration((any Plugin).self) { _ in Named(name: "a") }.intoMany(key: "a")
            Registration(String.self, lifetime: .singleton) { _ in "one" }.intoMany()
            // A service of its own, which may be empty.
            Registration([Int].self, instance: [])
        }
        await expect(.notRegistered) { try await container.resolve([Named].self) }
        await expect(.notRegistered) { try await container.resolve([String: Named].self) }
        // A map needs contributions with keys of its type.
        await expect(.notRegistered) { try await container.resolve([Int: any Plugin].self) }
        await expect(.notRegistered) { try await container.resolve([String: String].self) }
        #expect(try await container.resolve([Named]?.self) == nil)
        #expect(try await container.resolve([Int: any Plugin]?.self) == nil)
        #expect(try await container.optional([String: Named].self) == nil)
        #expect(try await container.resolve([String: any Plugin]?.self)?.count == 1)
        #expect(try await container.resolve([String]?.self) == ["one"])
        #expect(try await container.resolve([Int].self) == [], "a registered array may be empty")
    }

    @Test func `a contribution without a key that is given twice is two contributions`() async throws {
        let given = Registration((any Plugin).self) { _ in Named(name: "1") }.intoMany()
        let other = Registration(Named.self) { _ in Named(name: "2") }.implements((any Plugin).self) { $0 }.intoMany()
        func names(in container: Container) async throws -> [String] {
            try await container.resolveMany((any Plugin).self).map(\.name)
        }
        let container = Container(onDuplicate: .reject) {
            given
            other
            given
        }
        #expect(try await names(in: container) == ["1", "1"])
        try await container.register(given)
        #expect(try await names(in: container) == ["1", "1", "1"])
        #expect(try await container.resolveMany(Named.self).map(\.name) == ["2"])
        let child = Container(parent: container) {
            given
            other
        }
        #expect(try await names(in: child) == ["1", "1", "1", "1"])
        #expect(try await child.resolveMany(Named.self).map(\.name) == ["2", "2"])

        let keyed = Registration((any Plugin).self) { _ in Named(name: "key") }.intoMany(key: "key")
        try await child.register(keyed)
        try await child.register(keyed)
        #expect(try await names(in: child).filter { $0 == "key" }.count == 1)
    }

    @Test func `a key is not one of an optional type, although it can be cast to it`() async throws {
        let container = Container { Registration(Int.self, instance: 1).intoMany(key: "a") }
        #expect(try await container.resolveMap(Int.self, keyedBy: String.self) == ["a": 1])
        #expect(try await container.resolveMap(Int.self, keyedBy: String?.self).isEmpty)
        await expect(.notRegistered) { try await container.resolve([String?: Int].self) }
    }

    @Test func `a collection of contributions takes no arguments`() async throws {
        let container = Container {
            Registration(Int.self, instance: 1).intoMany(key: "a")
            Registration([Double].self) { (_, number: Double) in [number] }
            Registration(Double.self, instance: 2).intoMany()
        }
        await expect(.argumentMismatch) { _ = try await container.resolve([Int].self, arguments: 3) }
        await expect(.argumentMismatch) { _ = try await container.optional([String: Int].self, arguments: 3) }
        await expect(.argumentMismatch) { _ = try await container.resolve(Provider<[Int]>.self).callAsFunction(3) }
        #expect(try await container.resolve([Double].self, arguments: 0.5) == [0.5])
        #expect(try await container.resolve([Double].self) == [2])
    }
}
