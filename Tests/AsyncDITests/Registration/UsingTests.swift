import Testing

@testable import AsyncDI

private protocol Pet: Sendable {
    var name: String { get }
}
private final class Dog: Pet {
    let name: String
    init(name: String) { self.name = name }
}

private struct A: Sendable { let name = "a" }
private struct B: Sendable { let name = "b" }
private struct C: Sendable { let name = "c" }
private struct D: Sendable { let name = "d" }
private struct E: Sendable { let name = "e" }
private struct F: Sendable { let name = "f" }

/// The arguments of initializers with zero to six parameters.
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

@MainActor private final class Screen {
    let number: Int
    init(thing: Thing) {
        MainActor.assertIsolated()
        number = thing.number
    }
}

/// Initializers whose parameters are resolved.
@Suite(.timeLimit(.minutes(10))) struct UsingTests {
    @Test func `using takes initializers of zero to six parameters, of any effect`() async throws {
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

    @Test func `register takes initializers of zero to six parameters, whose dependencies are known to validate`()
        async throws
    {
        func registerAll(in container: Container) async throws {
            try await container.register(using: { Names() }, qualifier: "0")
            try await container.register(using: Names.init(a:), qualifier: "1")
            try await container.register(using: Names.init(a:b:), qualifier: "2")
            try await container.register(using: Names.init(a:b:c:), qualifier: "3")
            try await container.register(using: Names.init(a:b:c:d:), qualifier: "4")
            try await container.register(using: Names.init(a:b:c:d:e:), qualifier: "5")
            try await container.register(using: Names.init(a:b:c:d:e:f:), qualifier: "6")
        }
        let container = Container { Names.parts }
        try await registerAll(in: container)
        try await container.validate()
        for count in 0...6 {
            let names = try await container.resolve(Names.self, qualifier: "\(count)")
            #expect(names.all == "abcdef".prefix(count))
        }
        let empty = Container()
        try await registerAll(in: empty)
        let error = await #expect(throws: ValidationError.self) { try await empty.validate() }
        #expect(error?.problems.count == 21)
    }

    @Test func `ready dependencies are used at once, whichever way the initializer was registered`() async throws {
        let container = Container {
            for part in [Names.parts] { part }
            Registration(using: Names.init(a:b:c:d:e:f:), qualifier: "builder", lifetime: .transient)
        }
        try await container.register(
            using: Names.init(a:b:c:d:e:f:), as: Names.self, qualifier: "late", lifetime: .transient)
        for part in [A(), B(), C(), D(), E(), F()] as [any Sendable] {
            switch part {
            case let part as A: try await container.register(instance: part)
            case let part as B: try await container.register(instance: part)
            case let part as C: try await container.register(instance: part)
            case let part as D: try await container.register(instance: part)
            case let part as E: try await container.register(instance: part)
            default: try await container.register(instance: F())
            }
            for qualifier in ["builder", "late"] {
                #expect(try await container.resolve(Names.self, qualifier: qualifier).all == "abcdef")
            }
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

    @Test func `using takes an initializer that is bound to the main actor`() async throws {
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
        await expect(.notRegistered, path: ["Names", "B"]) { try await container.resolve(Names.self) }
    }

    @Test func `the error of an initializer or a dependency reaches the caller`() async throws {
        let container = Container {
            Names.parts
            Registration(B.self) { _ in throw TestError(2) }
            Registration(using: Names.init(a:b:))
            Registration(using: { (a: A) in try TestError.fail(1, as: Thing.self) })
        }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing.self) }
        await #expect(throws: TestError(2)) { try await container.resolve(Names.self) }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak])
    func `shared dependencies that must be created are created side by side`(lifetime: Lifetime) async throws {
        #expect(try await namesMadeSideBySide(of: lifetime, for: .graph) == "abc")
    }

    @Test(arguments: [Lifetime.singleton, .weak, .graph, .transient])
    func `a singleton's dependencies are created side by side, of any lifetime`(lifetime: Lifetime) async throws {
        #expect(try await namesMadeSideBySide(of: lifetime, for: .singleton) == "abc")
    }

    /// Each factory goes on only when all three have begun.
    private func namesMadeSideBySide(of lifetime: Lifetime, for user: Lifetime) async throws -> String {
        let started = Gate()
        func factory<S: Sendable>(_ make: @escaping @Sendable () -> S) -> Registration<S> {
            Registration(lifetime: lifetime) { _ in
                started.arrive()
                await started.arrived(3)
                return make()
            }
        }
        let container = Container {
            factory(A.init)
            factory(B.init)
            factory(C.init)
            Registration(using: Names.init(a:b:c:), lifetime: user)
        }
        return try await container.resolve(Names.self).all
    }

    @Test(arguments: [Lifetime.graph, .transient])
    func `transient and graph dependencies of a request are created in its task, in order`(
        lifetime: Lifetime
    ) async throws {
        let log = Log<String>()
        func factory<S: Sendable>(_ make: @escaping @Sendable () -> S) -> Registration<S> {
            Registration(lifetime: lifetime) { _ in
                log.append("\(S.self) begins in \(currentTask())")
                await Task.yield()
                log.append("\(S.self) ends")
                return make()
            }
        }
        let container = Container {
            factory(A.init)
            factory(B.init)
            factory(C.init)
            Registration(using: Names.init(a:b:c:))
        }
        _ = try await container.resolve(Names.self)
        let task = currentTask()
        #expect(
            log.entries == ["A", "B", "C"].flatMap { ["\($0) begins in \(task)", "\($0) ends"] })
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
}

/// Dependencies of `using:` that are created at the same time.
@Suite(.timeLimit(.minutes(10))) struct UsingTogetherTests {
    @Test func `a failure ends the waits for the others, whose creations are cancelled`() async throws {
        let isCancelled = Gate()
        let container = Container {
            Registration(A.self, lifetime: .singleton) { _ in
                defer { isCancelled.open() }
                try await untilCancelled()
                return A()
            }
            Registration(B.self, lifetime: .singleton) { _ in throw TestError(7) }
            Registration(using: { (_: A, _: B) in Names() }, lifetime: .singleton).eager()
        }
        await #expect(throws: TestError(7)) { try await container.start() }
        await isCancelled.pass()
    }

    @Test func `a transient or graph dependency is created in the caller's task, whatever is created beside it`()
        async throws
    {
        let tasks = Log<Int>()
        func noting<Service: Sendable>(_ make: @escaping @Sendable () -> Service) -> @Sendable () -> Service {
            {
                tasks.append(currentTask())
                return make()
            }
        }
        let (transient, graph) = (noting(C.init), noting(D.init))
        let container = Container {
            Registration(A.self, lifetime: .singleton) { _ in A() }
            Registration(B.self, lifetime: .singleton) { _ in B() }
            Registration(C.self, lifetime: .transient) { _ in transient() }
            Registration(D.self) { _ in graph() }
            Registration(using: { (_: C, _: A, _: D, _: B) in Names() })
        }
        for _ in 0..<2 { _ = try await container.resolve(Names.self) }
        #expect(tasks.entries == Array(repeating: currentTask(), count: 4))
    }
}

extension TestError {
    /// A throwing function that throws.
    fileprivate static func fail<R>(_ number: Int, as type: R.Type) throws -> R { throw TestError(number) }
}
