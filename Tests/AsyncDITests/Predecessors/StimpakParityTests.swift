import Foundation
import Testing

@testable import AsyncDI

/// The capabilities that users of Stimpak know: a test for each, under its familiar name.
@Suite(.timeLimit(.minutes(10)))
struct StimpakParityTests {
    // MARK: Registering

    @Test func `+= registers services, with and without arguments, and modules`() async throws {
        let container = Container()
        try await container += Registration(Person.self) { _ in Person("Ada", "Lovelace") }
        try await container += Registration(Person.self, lifetime: .scoped) { (_, first: String, last: String) in
            Person(first, last)
        }
        try await container += NameModule()
        #expect(try await container.resolve(Person.self).name == "Ada Lovelace")
        #expect(try await container.resolve(Person.self, arguments: "Alan", "Turing").name == "Alan Turing")
        #expect(try await container.resolve(String.self) == "a name")
    }

    @Test func `Instantiable: a type with an init() of its own needs no factory`() async throws {
        let container = Container {
            Registration(Plain.self, lifetime: .singleton)
            Registration(Plain.self, qualifier: "named")
            Registration(Slow.self, lifetime: .singleton)
        }
        let plain = try await container.resolve(Plain.self)
        #expect(try await container.resolve(Plain.self) === plain)
        #expect(try await container.resolve(Plain.self, qualifier: "named") !== plain)
        #expect(try await container.resolve(Slow.self).number == 3, "its init may be asynchronous and throw")
        try await container.register(Plain.self, lifetime: .transient)
        #expect(try await container.resolve(Plain.self) !== plain)
    }

    @Test func `an error about a type without a factory says where it was registered`() async throws {
        let container = Container {
            Registration(Plain.self, lifetime: .transient).onDispose { _ in }
        }
        let error = await expect(.invalidRegistration) { try await container.resolve(Plain.self) }
        #expect(error?.description.contains("StimpakParityTests.swift") == true)
    }

    // MARK: Reuse

    @Test func `reuse transient: a new instance for every request`() async throws {
        let container = Container { Registration(Plain.self, lifetime: .transient) }
        #expect(try await container.resolve(Plain.self) !== container.resolve(Plain.self))
    }

    @Test func `reuse singleton: one instance in a whole hierarchy of scopes`() async throws {
        let container = Container { Registration(Plain.self, lifetime: .singleton) }
        let inner = try await container.openScope("outer").openScope("inner")
        let plain = try await inner.resolve(Plain.self)
        #expect(try await container.resolve(Plain.self) === plain)
        try await container.disposeScope("outer")
        #expect(try await container.resolve(Plain.self) === plain)
    }

    @Test func `reuse inScope: each scope has its own`() async throws {
        let container = Container { Registration(Plain.self, lifetime: .scoped) }
        let outer = try await container.openScope(UUID())
        let inner = try await outer.openScope(UUID())
        let plain = try await outer.resolve(Plain.self)
        #expect(try await inner.resolve(Plain.self) !== plain)
        #expect(try await outer.resolve(Plain.self) === plain)
    }

    // MARK: Scopes

    @Test func `scopes are opened by a key, and found again by it`() async throws {
        let container = Container()
        let scope = try await container.openScope("session")
        #expect(try await container.openScope("session") === scope)
        #expect(await container.scope("session") === scope)
        #expect(try await container.openScope(1) !== scope)
        #expect(await container.scope("other") == nil)
    }

    @Test func `a subscript gives the scope that is open under a key`() async throws {
        let container = Container()
        let session = try await container.openScope("session")
        let view = try await session.openScope(7)
        #expect(await container["session"] === session)
        #expect(await container["session"]?[7] === view)
        #expect(await container[7] == nil)
    }

    @Test func `disposing a scope disposes the scopes inside it first, with their instances`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Plain.self, lifetime: .scoped)
                .onDispose { plain in log.append("disposed \(plain.number.withLock { $0 })") }
        }
        let outer = try await container.openScope("outer")
        let inner = try await outer.openScope("inner")
        try await outer.resolve(Plain.self).number.withLock { $0 = 1 }
        try await inner.resolve(Plain.self).number.withLock { $0 = 2 }
        try await container.disposeScope("outer")
        #expect(log.entries == ["disposed 2", "disposed 1"])
        #expect(await container["outer"] == nil)
        await expect(.disposed) { try await inner.resolve(Plain.self) }
        try await container.openScope("other").dispose()
        #expect(await container["other"] == nil, "a scope may also dispose itself")
    }

    // MARK: Arguments and keys

    @Test func `the root's dispose() keeps registrations: here that is reset()`() async throws {
        let container = Container { Registration(Person.self, lifetime: .singleton) { _ in Person("Ada", "Lovelace") } }
        let first = try await container.resolve(Person.self)
        try await container.reset()
        #expect(try await container.resolve(Person.self) !== first)
        try await container.dispose()
        await expect(.disposed) { try await container.resolve(Person.self) }
    }

    @Test func `tuples as arguments: their elements, one by one`() async throws {
        let container = Container {
            Registration(Person.self, lifetime: .scoped) { (_, first: String, last: String) in Person(first, last) }
        }
        let names = ("Grace", "Hopper")
        #expect(try await container.resolve(Person.self, arguments: names.0, names.1).name == "Grace Hopper")
        let error = await expect(.argumentMismatch) { try await container.resolve(Person.self, arguments: names) }
        #expect(error?.description.contains("one by one") == true)
    }

    @Test(arguments: [Lifetime.scoped, .singleton])
    func `argument equality: other arguments give another instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Person.self, lifetime: lifetime) { (_, first: String, last: String) in Person(first, last) }
        }
        let ada = try await container.resolve(Person.self, arguments: "Ada", "Lovelace")
        let alan = try await container.resolve(Person.self, arguments: "Alan", "Turing")
        #expect((ada.name, alan.name) == ("Ada Lovelace", "Alan Turing"))
        #expect(try await container.resolve(Person.self, arguments: "Ada", "Lovelace") === ada)
    }

    @Test func `custom argument equality: a comparator that runs`() async throws {
        let container = Container {
            Registration(Person.self, lifetime: .scoped, keyedBy: { (first: String, _: Unequal) in first.lowercased() })
            { _, first, last in Person(first, last.name) }
        }
        let ada = try await container.resolve(Person.self, arguments: "Ada", Unequal(name: "Lovelace"))
        #expect(try await container.resolve(Person.self, arguments: "ADA", Unequal(name: "Byron")) === ada)
        #expect(try await container.resolve(Person.self, arguments: "Alan", Unequal(name: "Lovelace")) !== ada)
    }

    @Test func `keys of any Hashable tell registrations apart`() async throws {
        let id = UUID()
        let container = Container {
            Registration(Person.self, qualifier: .key(1)) { _ in Person("one", "") }
            Registration(Person.self, qualifier: .key(id)) { (_, last: String) in Person("id", last) }
            Registration(Person.self, qualifier: .key([1, 2])) { _ in Person("array", "") }
        }
        #expect(try await container.resolve(Person.self, qualifier: .key(1)).first == "one")
        #expect(try await container.resolve(Person.self, qualifier: .key(id), arguments: "last").name == "id last")
        #expect(try await container.resolve(Person.self, qualifier: .key([1, 2])).first == "array")
        await expect(.notRegistered) { try await container.resolve(Person.self, qualifier: .key(2)) }
        await expect(.notRegistered) { try await container.resolve(Person.self, qualifier: .key(Int8(1))) }
    }

    @Test func `keys are compared, not their hashes`() async throws {
        let container = Container {
            Registration(Person.self, qualifier: .key(Colliding(name: "a"))) { _ in Person("a", "") }
            Registration(Person.self, qualifier: .key(Colliding(name: "b"))) { _ in Person("b", "") }
        }
        #expect(try await container.resolve(Person.self, qualifier: .key(Colliding(name: "a"))).first == "a")
        #expect(try await container.resolve(Person.self, qualifier: .key(Colliding(name: "b"))).first == "b")
        await expect(.notRegistered) {
            try await container.resolve(Person.self, qualifier: .key(Colliding(name: "c")))
        }
    }

    // MARK: Duplicates

    @Test func `duplicate policy skip: the first registration stays`() async throws {
        let container = Container(onDuplicate: .keep) { Registration(Int.self, instance: 1) }
        try await container += Registration(Int.self, instance: 2)
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `duplicate policy replace: the new registration takes over at once, and its predecessor is disposed`()
        async throws
    {
        let disposed = Gate()
        let container = Container(onDuplicate: .replace) {
            Registration(Plain.self, lifetime: .singleton).onDispose { _ in disposed.open() }
        }
        let old = try await container.resolve(Plain.self)
        try await container += Registration(Plain.self, lifetime: .singleton)
        #expect(try await container.resolve(Plain.self) !== old)
        await disposed.pass()
    }

    @Test func `duplicate policy throw: the second registration is refused, and the first one stays`() async throws {
        let container = Container(onDuplicate: .reject) { Registration(Int.self, instance: 1) }
        await expect(.duplicateRegistration) { try await container += Registration(Int.self, instance: 2) }
        #expect(try await container.resolve(Int.self) == 1)
        try await container += Registration(Int.self, qualifier: "other", instance: 2)
    }

    @Test func `unregister takes back a registration, by its arguments too`() async throws {
        let container = Container {
            Registration(Person.self) { _ in Person("none", "") }
            Registration(Person.self) { (_, name: String) in Person(name, "") }
        }
        #expect(await container.unregister(Person.self, arguments: String.self))
        #expect(await !container.unregister(Person.self, arguments: String.self))
        #expect(try await container.resolve(Person.self).first == "none")
        #expect(await container.unregister(Person.self))
        await expect(.notRegistered) { try await container.resolve(Person.self) }
    }

    // MARK: Callback

    @Test(arguments: [Lifetime.transient, .scoped])
    func `the creation callback knows the scope`(lifetime: Lifetime) async throws {
        let names = Log<String?>()
        let container = Container(name: "root") {
            Registration(Plain.self, lifetime: lifetime)
                .onCreate { resolver, _ in names.append(resolver.container?.name) }
        }
        let scope = try await container.openScope("session")
        _ = try await scope.resolve(Plain.self)
        _ = try await container.resolve(Plain.self)
        #expect(names.entries == ["session", "root"])
    }
}

// MARK: Services

private final class Plain: DefaultInitializable {
    let number = Locked(0)
}

private struct Slow: DefaultInitializable {
    let number: Int

    init() async throws {
        await Task.yield()
        number = 3
    }
}

private final class Person: Sendable {
    let first: String
    let last: String
    var name: String { "\(first) \(last)" }

    init(_ first: String, _ last: String) {
        self.first = first
        self.last = last
    }
}

private struct NameModule: Module {
    var registrations: Registrations { Registration(String.self, instance: "a name") }
}

/// Not `Hashable`, nor even `Equatable`.
private struct Unequal: Sendable {
    let name: String
}

private struct Colliding: Hashable {
    let name: String
    func hash(into hasher: inout Hasher) { hasher.combine(0) }
}
