import Testing

@testable import AsyncDI

private protocol Pet: Sendable {
    var name: String { get }
}
private struct Fish: Pet {
    let name: String
}

private struct A: Sendable { let name = "a" }
private struct B: Sendable { let name = "b" }

/// The arguments of an initializer with two parameters.
private struct Names: Sendable {
    let all: String
    init(a: A, b: B) async { all = a.name + b.name }

    static var parts: Registrations {
        Registrations {
            Registration(using: A.init)
            Registration(using: B.init)
        }
    }
}

/// Not `Sendable`, and changed by its holder.
private final class Draft {
    var text: String
    init(text: String) { self.text = text }
}

@MainActor private final class Screen {
    let number: Int
    init(number: Int) { self.number = number }
    convenience init(thing: Thing) {
        MainActor.assertIsolated()
        self.init(number: thing.number)
    }
}

private func makeThing(_ resolver: Resolver) async throws -> Thing { Thing(8) }

/// Every way to declare how a service is created.
@Suite(.timeLimit(.minutes(10))) struct FactoryTests {
    /// Spelled out, because a reference to any other method in place of a factory crashes the compiler (Swift 6.3.1).
    private nonisolated(nonsending) static func make(_ resolver: Resolver) async throws -> Thing { Thing(9) }

    @Test func `a factory may be synchronous, asynchronous, throwing or a function of its own`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }
            Registration(Int.self, qualifier: "async") { _ in
                await Task.yield()
                return 2
            }
            Registration(Int.self, qualifier: "throws") { _ in try TestError.none() }
            Registration { _ in "inferred" }
            Registration(factory: makeThing)
            Registration(qualifier: "method", factory: Self.make)
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Int.self, qualifier: "async") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "throws") == 3)
        #expect(try await container.resolve(String.self) == "inferred")
        #expect(try await container.resolve(Thing.self).number == 8)
        #expect(try await container.resolve(Thing.self, qualifier: "method").number == 9)
    }

    @Test(arguments: [Lifetime.transient, .graph, .singleton, .scoped])
    func `a factory may be bound to the main actor`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing(1) }
            Registration(Screen.self, lifetime: lifetime) { @MainActor r in
                MainActor.assertIsolated()
                return try await Screen(thing: r.resolve())
            }
            Registration(Screen.self, lifetime: lifetime) { @MainActor (_, number: Int) in Screen(number: number) }
        }
        #expect(try await container.resolve(Screen.self).number == 1)
        #expect(try await container.resolve(Screen.self, arguments: 2).number == 2)
    }

    @Test func `a registration is a value: it makes instances of their own in two containers`() async throws {
        let registration = Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
        let (one, two) = (Container { registration }, Container())
        try await two.register(registration)
        #expect(try await one.resolve(Thing.self) !== two.resolve(Thing.self))
    }

    @Test func `a modifier returns a changed copy`() async throws {
        let created = Counter()
        let plain = Registration(Thing.self) { _ in Thing() }
        let changed = plain.onCreate { _, _ in created.increment() }
        _ = try await Container { plain }.resolve(Thing.self)
        #expect(created.value == 0)
        _ = try await Container { changed }.resolve(Thing.self)
        #expect(created.value == 1)
    }

    @Test func `an instance is given as it is, to children too`() async throws {
        let thing = Thing()
        let container = Container {
            Registration(Thing.self, instance: thing)
            Registration(instance: "inferred")
            Registration((any Pet).self, qualifier: "q", instance: Fish(name: "fish"))
        }
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try await Container(parent: container).resolve(Thing.self) === thing)
        #expect(try await container.resolve(String.self) == "inferred")
        #expect(try await container.resolve((any Pet).self, qualifier: "q").name == "fish")
    }

    @Test func `each scope supplies an expected value, and a request outside gets an error`() async throws {
        let container = Container(name: "app") {
            Registration(expected: Int.self)
            Registration(String.self) { r in try await "request \(r.resolve(Int.self))" }
        }
        try await container.withScope("request") {
            Registration(instance: 42)
        } operation: { (_) async throws in
            #expect(try await container.resolve(String.self) == "request 42")
        }
        let error = await expect(.notRegistered, path: ["String", "Int"]) { try await container.resolve(String.self) }
        #expect(error?.description.contains("did not supply it") == true)
    }

    // MARK: Arguments

    @Test func `a factory takes twelve arguments`() async throws {
        let runs = Counter()
        let container = Container {
            Registration([String].self, lifetime: .singleton) {
                (
                    _, a: Int, b: String, c: Bool, d: Double, e: Int, f: String, g: Int?, h: [Int], i: Int8, j: UInt,
                    k: Character, l: Set<Int>
                ) in
                runs.increment()
                return ["\(a)", b, "\(c)", "\(d)", "\(e)", f, "\(g ?? 0)", "\(h)", "\(i)", "\(j)", "\(k)", "\(l)"]
            }
        }
        func ask(last: Set<Int>) async throws -> [String] {
            try await container.resolve(
                [String].self,
                arguments: 1, "two", true, 4.5, 5, "six", Int?(7), [8], Int8(9), UInt(10), Character("k"), last)
        }
        let expected = ["1", "two", "true", "4.5", "5", "six", "7", "[8]", "9", "10", "k", "[12]"]
        #expect(try await ask(last: [12]) == expected)
        #expect(try await ask(last: [12]) == expected)
        #expect(runs.value == 1)
        #expect(try await ask(last: [13]).last == "[13]")
        #expect(runs.value == 2)
    }

    @Test func `a transient takes closures and other arguments that cannot be compared`() async throws {
        final class Delegate: Sendable {}
        let container = Container {
            Registration(Int.self, lifetime: .transient) { (_, double: @escaping @Sendable (Int) -> Int, d: Delegate) in
                double(21)
            }
        }
        let double: @Sendable (Int) -> Int = { $0 * 2 }
        #expect(try await container.resolve(Int.self, arguments: double, Delegate()) == 42)
        try await container.register(String.self, lifetime: .transient) { (_, name: @escaping @Sendable () -> String) in
            name()
        }
        let name: @Sendable () -> String = { "name" }
        #expect(try await container.resolve(String.self, arguments: name) == "name")
        #expect(try await container.optional(String.self, arguments: name) == "name")
    }

    @Test func `keyedBy decides which arguments are equal`() async throws {
        struct Style: Sendable { let name: String }
        let container = Container {
            Registration(Thing.self, keyedBy: { (number: Int, style: Style) in number / 10 }) { _, number, style in
                Thing(number)
            }
        }
        let first = try await container.resolve(Thing.self, arguments: 11, Style(name: "a"))
        #expect(first.number == 11)
        #expect(try await container.resolve(Thing.self, arguments: 12, Style(name: "b")) === first)
        #expect(try await container.resolve(Thing.self, arguments: 21, Style(name: "a")).number == 21)
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .scoped, .weak, Lifetime("custom")])
    func `keyedBy works in every shared lifetime`(lifetime: Lifetime) async throws {
        let container = Container()
        try await container.register(
            Thing.self, lifetime: lifetime, keyedBy: { (text: String) in text.lowercased() }
        ) { _, text in Thing(text.count) }
        let one = try await container.resolve(Thing.self, arguments: "One")
        #expect(try await container.resolve(Thing.self, arguments: "ONE") === one)
        #expect(try await container.resolve(Thing.self, arguments: "two") !== one)
    }

    @Test func `keyedBy decides within a graph`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .graph, keyedBy: { (n: Int) in n % 2 }) { _, n in Thing(n) }
            Registration([Thing].self) { r in
                [
                    try await r.resolve(Thing.self, arguments: 1), try await r.resolve(Thing.self, arguments: 3),
                    try await r.resolve(Thing.self, arguments: 2),
                ]
            }
        }
        #expect(try await container.resolve([Thing].self).map(\.number) == [1, 1, 2])
    }

    // MARK: register

    @Test func `register takes the same parameters as a registration`() async throws {
        let container = Container(registrations: Names.parts)
        try await container.register(Int.self, qualifier: "q", lifetime: .singleton) { _ in 1 }
        try await container.register(Int.self, lifetime: .singleton) { (_, a: Int, b: Int) in a + b }
        try await container.register(using: Names.init(a:b:), qualifier: "using", lifetime: .singleton)
        try await container.register(using: Fish.init, as: (any Pet).self)
        try await container.register(String.self, instance: "instance")
        try await container.register(Double.self, qualifier: "q", instance: 0.5)
        try await container.register(making: Draft.self) { (_, text: String) in Draft(text: text) }
        try await container.register(Registration(Bool.self) { _ in true })
        try await container.register { Registration(Thing.self) { _ in Thing(4) } }
        try await container.register(Registrations { Registration(UInt.self) { _ in 5 } })
        #expect(try await container.resolve(Int.self, qualifier: "q") == 1)
        #expect(try await container.resolve(Int.self, arguments: 1, 2) == 3)
        #expect(try await container.resolve(Names.self, qualifier: "using").all == "ab")
        #expect(try await container.resolve((any Pet).self).name == "instance")
        #expect(try await container.resolve(Double.self, qualifier: "q") == 0.5)
        #expect(try await container.make(Draft.self, arguments: "made").text == "made")
        #expect(try await container.resolve(Bool.self))
        #expect(try await container.resolve(Thing.self).number == 4)
        #expect(try await container.resolve(UInt.self) == 5)
    }

    @Test func `eager, dependencies and whenAbandoned do not change the service`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .eager().dependencies(Int.self, (any Pet).self).whenAbandoned(.finish)
        }
        #expect(try await container.resolve(Thing.self).number == 1)
    }
}

extension TestError {
    /// A throwing function that does not throw.
    fileprivate static func none() throws -> Int { 3 }
}
