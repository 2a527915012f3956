import Testing

@testable import AsyncDI

private protocol Pet: Sendable {
    var name: String { get }
}
private protocol Walker: Sendable {}
private final class Dog: Pet, Walker {
    let name: String
    init(name: String) { self.name = name }
    convenience init() { self.init(name: "dog") }
}
private struct Fish: Pet {
    let name: String
}

private struct A: Sendable { let name = "a" }
private struct B: Sendable { let name = "b" }
private struct C: Sendable { let name = "c" }
private struct D: Sendable { let name = "d" }
private struct E: Sendable { let name = "e" }
private struct F: Sendable { let name = "f" }

/// What initialisers of zero to six parameters were given.
private struct Names: Sendable {
    let all: String
    init() { all = "" }
    init(a: A) { all = a.name }
    init(a: A, b: B) async { all = a.name + b.name }
    init(a: A, b: B, c: C) throws { all = a.name + b.name + c.name }
    init(a: A, b: B, c: C, d: D) async throws { all = a.name + b.name + c.name + d.name }
    init(a: A, b: B, c: C, d: D, e: E) { all = a.name + b.name + c.name + d.name + e.name }
    init(a: A, b: B, c: C, d: D, e: E, f: F) { all = a.name + b.name + c.name + d.name + e.name + f.name }

    static var parts: Registrations {
        Registrations {
            Registration(using: A.init)
            Registration(using: B.init)
            Registration(using: C.init)
            Registration(using: D.init)
            Registration(using: E.init)
            Registration(using: F.init)
        }
    }
}

/// Not `Sendable`, and changed by whoever has it.
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

/// Which task this is.
private func currentTask() -> Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }

private func makeThing(_ resolver: Resolver) async throws -> Thing { Thing(8) }

/// Every way to say how a service is made: DESIGN 2.
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

    @Test func `an expected value is what each scope supplies, and an error that says so where none did`() async throws
    {
        let container = Container(name: "app") {
            Registration(expected: Int.self)
            Registration(String.self) { r in try await "request \(r.resolve(Int.self))" }
        }
        try await container.withScope("request") {
            Registration(instance: 42)
        } operation: { (_) async throws in
            #expect(try await container.resolve(String.self) == "request 42")
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(String.self) }
        #expect(error?.code == .notRegistered)
        #expect(error?.path.map(\.description) == ["String", "Int"])
        #expect(error?.description.contains("supplied") == true)
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

    @Test func `register takes what a registration does`() async throws {
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

    @Test func `eager, dependencies and whenAbandoned leave the service what it is`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .eager().dependencies(Int.self, (any Pet).self).whenAbandoned(.finish)
        }
        #expect(try await container.resolve(Thing.self).number == 1)
    }
}

/// Initialisers whose parameters are resolved: DESIGN 2 and 3.8.
@Suite(.timeLimit(.minutes(10))) struct UsingTests {
    @Test func `using takes initialisers of zero to six parameters, of any effect`() async throws {
        let container = Container {
            Names.parts
            Registration(using: { Names() }, qualifier: "0")
            Registration(using: Names.init(a:), qualifier: "1")
            Registration(using: Names.init(a:b:), qualifier: "2")
            Registration(using: Names.init(a:b:c:), qualifier: "3")
            Registration(using: Names.init(a:b:c:d:), qualifier: "4")
            Registration(using: Names.init(a:b:c:d:e:), qualifier: "5")
            Registration(using: Names.init(a:b:c:d:e:f:), qualifier: "6")
        }
        for count in 0...6 {
            let names = try await container.resolve(Names.self, qualifier: "\(count)")
            #expect(names.all == "abcdef".prefix(count))
        }
    }

    @Test func `using registers under another type, a qualifier and a lifetime`() async throws {
        let container = Container {
            Registration(instance: "rex")
            Registration(using: Dog.init(name:), as: (any Pet).self, qualifier: "q", lifetime: .singleton)
            Registration(using: { (name: String) in Thing(name.count) })
        }
        let pet = try await container.resolve((any Pet).self, qualifier: "q")
        #expect(pet.name == "rex")
        #expect(try await container.resolve((any Pet).self, qualifier: "q") as? Dog === pet as? Dog)
        #expect(try await container.resolve(Thing.self).number == 3)
        #expect(try await container.optional(Dog.self) == nil)
    }

    @Test func `using takes an initialiser that is bound to the main actor`() async throws {
        let container = Container {
            Registration(instance: Thing(3))
            Registration(using: Screen.init(thing:))
        }
        #expect(try await container.resolve(Screen.self).number == 3)
    }

    @Test func `optional dependencies are nil when they are not registered`() async throws {
        struct Report: Sendable {
            let pet: (any Pet)?
            let thing: Thing?
            let a: A
        }
        let container = Container {
            Registration(using: Report.init)
            Registration(using: A.init)
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
        }
        let report = try await container.resolve(Report.self)
        #expect(report.pet == nil)
        #expect(try await report.thing === container.resolve(Thing.self))
    }

    @Test func `a dependency that is missing is named, with the path to it`() async throws {
        let container = Container {
            Registration(using: A.init)
            Registration(using: Names.init(a:b:))
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Names.self) }
        #expect(error?.code == .notRegistered)
        #expect(error?.path.map(\.description) == ["Names", "B"])
    }

    @Test func `what an initialiser or a dependency throws reaches the caller`() async throws {
        let container = Container {
            Names.parts
            Registration(B.self) { _ in throw TestError(2) }
            Registration(using: Names.init(a:b:))
            Registration(using: { (a: A) in try TestError.fail(1, as: Thing.self) })
        }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing.self) }
        await #expect(throws: TestError(2)) { try await container.resolve(Names.self) }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak, .graph, .transient])
    func `dependencies that must be created are created side by side`(lifetime: Lifetime) async throws {
        let started = Gate()
        func factory<S: Sendable>(_ make: @escaping @Sendable () -> S) -> Registration<S> {
            Registration(lifetime: lifetime) { _ in
                // Only goes on when all three have begun.
                started.arrive()
                await started.arrived(3)
                return make()
            }
        }
        let container = Container {
            factory(A.init)
            factory(B.init)
            factory(C.init)
            Registration(using: Names.init(a:b:c:))
        }
        #expect(try await container.resolve(Names.self).all == "abc")
    }

    @Test func `one dependency that must be created is created in the caller's task, the ready ones make none`()
        async throws
    {
        let tasks = Log<Int>()
        let container = Container {
            Registration(A.self, lifetime: .singleton) { _ in A() }
            Registration(B.self, lifetime: .transient) { _ in
                tasks.append(currentTask())
                return B()
            }
            Registration(instance: C())
            Registration(using: { (a: A, b: B, c: C) in
                tasks.append(currentTask())
                return Names()
            })
        }
        _ = try await container.resolve(A.self)
        _ = try await container.resolve(Names.self)
        #expect(tasks.entries == [currentTask(), currentTask()])
    }

    @Test func `several dependencies that must be created have a task each`() async throws {
        let tasks = Log<Int>()
        let both = Gate()
        let container = Container {
            Registration(A.self, lifetime: .transient) { _ in
                tasks.append(currentTask())
                both.arrive()
                await both.arrived(2)
                return A()
            }
            Registration(B.self, lifetime: .transient) { _ in
                tasks.append(currentTask())
                both.arrive()
                await both.arrived(2)
                return B()
            }
            Registration(using: Names.init(a:b:))
        }
        _ = try await container.resolve(Names.self)
        #expect(Set(tasks.entries + [currentTask()]).count == 3)
    }
}

/// Services that need not be `Sendable`: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct MakingTests {
    @Test func `make gives a new instance each time, for the caller to change`() async throws {
        let container = Container { Registration(making: Draft.self) { _ in Draft(text: "empty") } }
        let draft = try await container.make(Draft.self)
        draft.text = "changed"
        let other: Draft = try await container.make()
        #expect(other.text == "empty")
        #expect(draft.text == "changed")
    }

    @Test @MainActor func `what is made belongs to the caller's isolation`() async throws {
        let container = Container { Registration(making: Draft.self) { _ in Draft(text: "empty") } }
        let draft = try await container.make(Draft.self)
        draft.text += "!"
        #expect(draft.text == "empty!")
    }

    @Test func `make takes a qualifier and arguments`() async throws {
        let container = Container {
            Registration(making: Draft.self, qualifier: "q") { (_, text: String, count: Int) in
                Draft(text: String(repeating: text, count: count))
            }
            Registration(making: Draft.self) { (_, text: String) in Draft(text: text) }
        }
        #expect(try await container.make(Draft.self, qualifier: "q", arguments: "ab", 2).text == "abab")
        #expect(try await Container(parent: container).make(Draft.self, arguments: "c").text == "c")
    }

    @Test func `a factory makes what need not be Sendable from dependencies, and inside another factory`() async throws
    {
        let container = Container {
            Registration(instance: "text")
            Registration(making: Draft.self) { r in Draft(text: try await r.resolve()) }
            Registration(Int.self) { r in try await r.make(Draft.self).text.count }
        }
        #expect(try await container.make(Draft.self).text == "text")
        #expect(try await container.resolve(Int.self) == 4)
    }

    @Test func `what the factory throws, and what it misses, reaches the caller of make`() async throws {
        let container = Container {
            Registration(making: Draft.self) { _ in throw TestError(1) }
            Registration(making: Draft.self, qualifier: "q") { r in Draft(text: try await r.resolve()) }
        }
        await #expect(throws: TestError(1)) { _ = try await container.make(Draft.self) }
        let error = await #expect(throws: ResolutionError.self) {
            _ = try await container.make(Draft.self, qualifier: "q")
        }
        #expect(error?.code == .notRegistered)
        #expect(error?.path.map(\.description) == ["Draft[q]", "String"])
    }

    @Test func `a miss of make says what is near`() async throws {
        let container = Container {
            Registration(making: Draft.self) { (_, text: String) in Draft(text: text) }
            Registration(Thing.self) { _ in Thing() }
        }
        let mismatch = await #expect(throws: ResolutionError.self) { _ = try await container.make(Draft.self) }
        #expect(mismatch?.code == .argumentMismatch)
        let resolvable = await #expect(throws: ResolutionError.self) { _ = try await container.make(Thing.self) }
        #expect(resolvable?.code == .notRegistered)
        #expect(resolvable?.description.contains("resolve") == true)
    }

    @Test func `resolve of what is only made says so`() async throws {
        let container = Container { Registration(making: Thing.self) { _ in Thing() } }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        #expect(error?.code == .notRegistered)
        #expect(error?.description.contains("making:") == true)
        #expect(error?.description.contains("make(") == true)
    }

    @Test func `hooks of what is made run, or are refused`() async throws {
        let hooks = Counter()
        let container = Container()
        do {
            try await container.register(
                Registration(making: Thing.self) { _ in Thing() }
                    .injectProperties { _, _ in hooks.increment() }
                    .onCreate { _, _ in hooks.increment() })
            _ = try await container.make(Thing.self)
            #expect(hooks.value == 2)
        } catch {
            #expect(ResolutionError.Code.invalidRegistration ~= error)
        }
    }

    @Test func `what is made and implements another type crashes nobody`() async throws {
        await #expect(processExitsWith: .success) {
            let container = Container()
            do {
                try await container.register(
                    Registration(making: Thing.self) { _ in Thing() }.implements((any Sendable).self))
                _ = try await container.resolve((any Sendable).self)
            } catch is ResolutionError {
                // An answer too.
            }
        }
    }
}

/// What runs between a factory and whoever asked: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct HookTests {
    static let lifetimes: [Lifetime] = [.transient, .graph, .singleton, .multiton, .scoped, .weak, Lifetime("custom")]

    @Test(arguments: lifetimes)
    func `properties are injected first, then onCreate hooks run, each in the order given`(lifetime: Lifetime)
        async throws
    {
        let log = Log<String>()
        let container = Container {
            Registration(instance: "value")
            Registration(Thing.self, lifetime: lifetime) { _ in
                log.append("factory")
                return Thing(1)
            }
            .onCreate { _, thing in log.append("create 1 \(thing.number)") }
            .injectProperties { r, thing in log.append("inject 1 \(try await r.resolve(String.self))") }
            .onCreate { r, _ in log.append("create 2 \(try await r.resolve(String.self))") }
            .injectProperties { _, thing in log.append("inject 2 \(thing.number)") }
        }
        _ = try await container.resolve(Thing.self)
        #expect(log.entries == ["factory", "inject 1 value", "inject 2 1", "create 1 1", "create 2 value"])
    }

    @Test func `hooks run once for each instance, and not for a hit`() async throws {
        let created = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, number: Int) in Thing(number) }
                .onCreate { _, thing in created.append(thing.number) }
        }
        for number in [1, 2, 1, 2] { _ = try await container.resolve(Thing.self, arguments: number) }
        #expect(created.entries == [1, 2])
    }

    @Test func `nobody gets an instance before its hooks are done`() async throws {
        let gate = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onCreate { _, _ in await gate.pass() }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await gate.arrived()
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        gate.open()
        #expect(try await container.resolve(Thing.self) === asker.value)
    }

    @Test(arguments: lifetimes, [true, false])
    func `a hook that throws fails the creation`(lifetime: Lifetime, isPropertyHook: Bool) async throws {
        let runs = Counter()
        let hooks = Counter()
        @Sendable func hook() throws {
            if hooks.increment() == 1 { throw TestError(1) }
        }
        let plain = Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
        let container = Container {
            isPropertyHook ? plain.injectProperties { _, _ in try hook() } : plain.onCreate { _, _ in try hook() }
        }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing.self) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `what was made before a hook threw is disposed`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .onCreate { _, _ in throw TestError() }
                .onDispose { disposed.append($0.number) }
        }
        await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `onCreate of an instance registration runs, or is refused`() async throws {
        let created = Counter()
        let container = Container()
        do {
            try await container.register(Registration(instance: Thing()).onCreate { _, _ in created.increment() })
            _ = try await container.resolve(Thing.self)
            #expect(created.value == 1)
        } catch {
            #expect(ResolutionError.Code.invalidRegistration ~= error)
        }
    }
}

/// One service under several types: DESIGN 2 and 3.8.
@Suite(.timeLimit(.minutes(10))) struct ImplementsTests {
    static let shared: [Lifetime] = [
        .singleton, .multiton, .scoped, .weak, Lifetime("custom"), Lifetime("own", ownedBy: .resolvingContainer),
        Lifetime("stored") { StrongStorage() },
    ]

    @Test(arguments: shared, [true, false])
    func `the other type gives the same instance, whichever is asked first`(lifetime: Lifetime, isFirst: Bool)
        async throws
    {
        let runs = Counter()
        let container = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in
                runs.increment()
                return Dog()
            }
            .implements((any Pet).self)
            .implements((any Walker).self) { $0 }
        }
        let first: any Sendable =
            isFirst ? try await container.resolve((any Pet).self) : try await container.resolve(Dog.self)
        let dog = try await container.resolve(Dog.self)
        #expect(first as? Dog === dog)
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
        #expect(try await container.resolve((any Walker).self) as? Dog === dog)
        // Again, now that both may be there already.
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
        #expect(runs.value == 1)
    }

    @Test func `the other type shares within a graph, and a transient is new each time`() async throws {
        let container = Container {
            Registration(Dog.self, qualifier: "graph", lifetime: .graph) { _ in Dog() }.implements((any Pet).self)
            Registration(Dog.self, qualifier: "transient", lifetime: .transient) { _ in Dog() }
                .implements((any Pet).self) { $0 }
            for name in ["graph", "transient"] {
                Registration(Bool.self, qualifier: name) { r in
                    let pet = try await r.resolve((any Pet).self, qualifier: name)
                    return try await r.resolve(Dog.self, qualifier: name) === pet as? Dog
                }
            }
        }
        #expect(try await container.resolve(Bool.self, qualifier: "graph"))
        #expect(try await !container.resolve(Bool.self, qualifier: "transient"))
    }

    @Test func `each scope's instance is shared with the other type in that scope`() async throws {
        let root = Container { Registration(Dog.self, lifetime: .scoped) { _ in Dog() }.implements((any Pet).self) }
        let (one, two) = (try await root.openScope(1), try await root.openScope(2))
        for _ in 0..<2 {
            for scope in [one, two, root] {
                #expect(try await scope.resolve((any Pet).self) as? Dog === scope.resolve(Dog.self))
            }
            // What is found without a lock is told to look again.
            try await root.register(Int.self, instance: 1)
        }
        #expect(try await one.resolve((any Pet).self) as? Dog !== two.resolve((any Pet).self) as? Dog)
    }

    @Test func `the other type has the same qualifier and arguments`() async throws {
        let container = Container {
            Registration(Dog.self, qualifier: "q", lifetime: .singleton) { (_, name: String) in Dog(name: name) }
                .implements((any Pet).self)
        }
        let rex = try await container.resolve((any Pet).self, qualifier: "q", arguments: "rex")
        #expect(rex.name == "rex")
        #expect(try await container.resolve(Dog.self, qualifier: "q", arguments: "rex") === rex as? Dog)
        #expect(try await container.resolve((any Pet).self, qualifier: "q", arguments: "ada").name == "ada")
        #expect(try await container.optional((any Pet).self) == nil)
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve((any Pet).self, qualifier: "q")
        }
        #expect(error?.code == .argumentMismatch)
    }

    @Test func `a conversion may be any`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "rex") }
                .implements(String.self) { $0.name }
        }
        #expect(try await container.resolve(String.self) == "rex")
    }

    @Test func `a value implements too, and an instance that is there already`() async throws {
        let container = Container {
            Registration(Fish.self, lifetime: .singleton) { _ in Fish(name: "made") }.implements((any Pet).self)
            Registration(Fish.self, qualifier: "q", instance: Fish(name: "given")).implements((any Pet).self)
        }
        #expect(try await container.resolve((any Pet).self).name == "made")
        #expect(try await container.resolve((any Pet).self, qualifier: "q").name == "given")
    }

    @Test(arguments: [Lifetime.transient, .graph, .singleton])
    func `a type that the service does not conform to is a typeMismatch`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Fish.self, lifetime: lifetime) { _ in Fish(name: "fish") }.implements((any Walker).self)
            Registration(using: { (walker: any Walker) in Thing() })
        }
        let direct = await #expect(throws: ResolutionError.self) { try await container.resolve((any Walker).self) }
        #expect(direct?.code == .typeMismatch)
        #expect(direct?.description.contains("Fish") == true)
        #expect(direct?.description.contains("Walker") == true)
        let nested = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        #expect(nested?.path.map(\.description) == ["Thing", "Walker"])
        #expect(try await container.resolve(Fish.self).name == "fish")
    }

    @Test func `a service that implements itself is an invalidRegistration`() async throws {
        let registration = Registration(Dog.self) { _ in Dog() }.implements(Dog.self)
        let error = await #expect(throws: ResolutionError.self) { try await Container().register(registration) }
        #expect(error?.code == .invalidRegistration)
        let late = await #expect(throws: ResolutionError.self) {
            try await Container { registration }.resolve(Dog.self)
        }
        #expect(late?.code == .invalidRegistration)
    }

    @Test func `the other type is registered: for isRegistered, optionals and children`() async throws {
        let container = Container { Registration(Dog.self) { _ in Dog() }.implements((any Pet).self) }
        let child = Container(parent: container)
        #expect(await container.isRegistered((any Pet).self))
        #expect(await child.isRegistered((any Pet).self))
        #expect(try await child.resolve((any Pet)?.self)?.name == "dog")
        #expect(try await child.optional((any Pet).self)?.name == "dog")
    }

    @Test func `a child shares its parent's instance through the other type`() async throws {
        let parent = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        let child = Container(parent: parent)
        let pet = try await child.resolve((any Pet).self)
        #expect(try await parent.resolve(Dog.self) === pet as? Dog)
    }

    // MARK: Changes

    @Test func `when the service is replaced, the other type gives the new one`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "old") }.implements((any Pet).self)
        }
        #expect(try await container.resolve((any Pet).self).name == "old")
        try await container.register(Dog.self, lifetime: .singleton) { _ in Dog(name: "new") }
        #expect(try await container.resolve((any Pet).self).name == "new")
        #expect(try await container.resolve((any Pet).self) as? Dog === container.resolve(Dog.self))
    }

    @Test func `when the service is unregistered, so is the other type`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        #expect(await container.unregister(Dog.self))
        #expect(await !container.isRegistered((any Pet).self))
        #expect(try await container.optional((any Pet).self) == nil)
    }

    @Test func `when the other type is unregistered, the service stays`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        let dog = try await container.resolve((any Pet).self)
        #expect(await container.unregister((any Pet).self))
        #expect(try await container.optional((any Pet).self) == nil)
        #expect(try await container.resolve(Dog.self) === dog as? Dog)
    }

    @Test func `a registration of the other type by itself takes its place, and stays when the service goes`()
        async throws
    {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        try await container.register((any Pet).self, lifetime: .singleton) { _ in Fish(name: "fish") }
        #expect(try await container.resolve((any Pet).self).name == "fish")
        #expect(try await container.resolve(Dog.self).name == "dog")
        await container.unregister(Dog.self)
        #expect(try await container.resolve((any Pet).self).name == "fish")
    }

    @Test func `what took the place of another type stays ready when the service is reset`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        try await container.register((any Pet).self, instance: Fish(name: "fish"))
        #expect(try container.ready((any Pet).self).name == "fish")
        try await container.reset(Dog.self)
        #expect(try container.ready((any Pet).self).name == "fish")
    }

    @Test func `another type that is replaced in flight is not handed out afterwards`() async throws {
        let factory = DrivenFactory<Dog>()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in try await factory.run() }.implements((any Pet).self)
        }
        let waiter = Task { try await container.resolve((any Pet).self) }
        await factory.began()
        try await container.register((any Pet).self, instance: Fish(name: "fish"))
        factory.answer(Dog())
        #expect(try await waiter.value.name == "dog")
        #expect(try await container.resolve((any Pet).self).name == "fish")
    }

    @Test func `what was in flight at a reset is not handed out afterwards under another type`() async throws {
        let factory = DrivenFactory<Dog>()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in try await factory.run() }.implements((any Pet).self)
        }
        let old = Task { try await container.resolve((any Pet).self) }
        await factory.began()
        try await container.reset()
        let new = Task { try await container.resolve(Dog.self) }
        await factory.began(2)
        factory.answer(Dog(name: "new"), run: 1)
        let dog = try await new.value
        factory.answer(Dog(name: "old"), run: 0)
        #expect(try await old.value.name == "old")
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak])
    func `after a reset both types give one new instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in Dog() }.implements((any Pet).self)
        }
        let old = try await container.resolve((any Pet).self)
        try await container.reset(Dog.self)
        let new = try await container.resolve((any Pet).self)
        #expect(old as? Dog !== new as? Dog)
        #expect(try await container.resolve(Dog.self) === new as? Dog)
        try await container.reset((any Pet).self)
        #expect(try await container.resolve(Dog.self) !== new as? Dog)
        #expect(try await container.resolve((any Pet).self) as? Dog === container.resolve(Dog.self))
    }

    @Test func `a reset of the other type with arguments resets the service with them`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .multiton) { (_, name: String) in Dog(name: name) }.implements(
                (any Pet).self)
        }
        let rex = try await container.resolve(Dog.self, arguments: "rex")
        let ada = try await container.resolve(Dog.self, arguments: "ada")
        try await container.reset((any Pet).self, arguments: "rex")
        #expect(try await container.resolve(Dog.self, arguments: "rex") !== rex)
        #expect(try await container.resolve(Dog.self, arguments: "ada") === ada)
    }

    @Test func `a service of several types is disposed once`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }
                .implements((any Pet).self)
                .implements((any Walker).self)
                .onDispose { _ in disposed.increment() }
        }
        _ = try await container.resolve((any Pet).self)
        _ = try await container.resolve((any Walker).self)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `what is wrong with a service is thrown for its other types too`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .transient) { _ in Dog() }.implements((any Pet).self).onDispose { _ in }
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve((any Pet).self) }
        #expect(error?.code == .invalidRegistration)
    }
}

/// What a builder closure takes: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct RegistrationBuilderTests {
    private struct NumberModule: Module {
        var qualifier = "module"
        var registrations: Registrations {
            Registration(Int.self, qualifier: qualifier) { _ in 1 }
        }
    }
    private struct OuterModule: Module {
        let isLarge: Bool
        var registrations: Registrations {
            Registration(Int.self, qualifier: "outer") { r in try await r.resolve(Int.self, qualifier: "inner") + 1 }
            NumberModule(qualifier: "inner")
            if isLarge { NumberModule(qualifier: "large") }
        }
    }

    @Test func `a builder takes nothing at all`() async throws {
        let container = Container {}
        #expect(try await container.optional(Int.self) == nil)
        try await container.register {}
    }

    @Test(arguments: [true, false])
    func `a builder takes conditions`(flag: Bool) async throws {
        let number: Int? = flag ? 3 : nil
        let container = Container {
            if flag { Registration(Int.self) { _ in 1 } }
            if flag { Registration(String.self) { _ in "yes" } } else { Registration(String.self) { _ in "no" } }
            if let number { Registration(Double.self) { _ in Double(number) } }
            switch flag {
            case true: Registration(Bool.self) { _ in true }
            case false:
                Registration(Bool.self) { _ in false }
                Registration(UInt.self) { _ in 1 }
            }
            if #available(macOS 10, *) { Registration(Thing.self) { _ in Thing() } }
        }
        #expect(try await container.optional(Int.self) == (flag ? 1 : nil))
        #expect(try await container.resolve(String.self) == (flag ? "yes" : "no"))
        #expect(try await container.optional(Double.self) == (flag ? 3 : nil))
        #expect(try await container.resolve(Bool.self) == flag)
        #expect(try await container.optional(UInt.self) == (flag ? nil : 1))
        #expect(await container.isRegistered(Thing.self))
    }

    @Test func `a builder takes loops, local values and functions`() async throws {
        func number(_ value: Int) -> Registration<Int> {
            Registration(Int.self, qualifier: "\(value)") { _ in value }
        }
        let container = Container {
            let last = 3
            for value in 1...last { number(value) }
            for value in 4...5 where value == 5 {
                number(value)
                number(-value)
            }
        }
        for value in [1, 2, 3, 5, -5] { #expect(try await container.resolve(Int.self, qualifier: "\(value)") == value) }
        #expect(await !container.isRegistered(Int.self, qualifier: "4"))
    }

    @Test func `a builder takes modules, arrays of modules and collected registrations`() async throws {
        let modules: [any Module] = [NumberModule(qualifier: "a"), OuterModule(isLarge: false)]
        let module: any Module = NumberModule(qualifier: "any")
        let collected = Registrations { Registration(String.self) { _ in "collected" } }
        let container = Container {
            NumberModule()
            modules
            module
            [NumberModule(qualifier: "literal")]
            collected
        }
        for qualifier in ["module", "a", "inner", "any", "literal"] {
            #expect(try await container.resolve(Int.self, qualifier: qualifier) == 1)
        }
        #expect(try await container.resolve(String.self) == "collected")
    }

    @Test func `modules nest, in any order`() async throws {
        let container = Container { OuterModule(isLarge: true) }
        #expect(try await container.resolve(Int.self, qualifier: "outer") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "large") == 1)
    }

    @Test func `modules are registered later, one or many`() async throws {
        let container = Container()
        try await container.register(OuterModule(isLarge: false))
        try await container.register {
            NumberModule(qualifier: "late")
            [NumberModule(qualifier: "later")]
        }
        #expect(try await container.resolve(Int.self, qualifier: "outer") == 2)
        #expect(try await container.resolve(Int.self, qualifier: "late") == 1)
        #expect(try await container.resolve(Int.self, qualifier: "later") == 1)
    }

    @Test func `a builder captures freely, also what need not be Sendable`() async throws {
        let draft = Draft(text: "captured")
        let container = Container { Registration(instance: draft.text) }
        draft.text = "changed"
        #expect(try await container.resolve(String.self) == "captured")
        try await container.register { Registration(String.self, instance: draft.text) }
        #expect(try await container.resolve(String.self) == "changed")
    }

    @Test @MainActor func `a builder runs on the main actor when its caller does`() async throws {
        let screen = Screen(number: 5)
        let container = Container { Registration(instance: screen.number) }
        #expect(try await container.resolve(Int.self) == 5)
    }
}

extension TestError {
    /// A throwing function that does not throw.
    fileprivate static func none() throws -> Int { 3 }
    /// A throwing function that does.
    fileprivate static func fail<R>(_ number: Int, as type: R.Type) throws -> R { throw TestError(number) }
}
