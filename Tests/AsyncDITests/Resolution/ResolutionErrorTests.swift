import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private struct Fish: Pet {}
private struct A: Sendable {}
private struct B: Sendable {}
private struct C: Sendable {}
private struct X: Sendable {}
private struct Y: Sendable {}

/// An error to tell apart by identity.
private final class IdentifiableError: Error {}

extension ResolutionError {
    /// The path as its keys are written.
    fileprivate var names: [String] { path.map(\.description) }
}

/// What an error says: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct ResolutionErrorTests {
    private func error<R>(
        of body: nonisolated(nonsending) () async throws -> R, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> ResolutionError? {
        do {
            _ = try await body()
            Issue.record("an error was expected", sourceLocation: sourceLocation)
        } catch let error as ResolutionError {
            return error
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        return nil
    }

    // MARK: Descriptions

    @Test func `notRegistered`() async throws {
        let container = Container(name: "app") {
            Registration(A.self) { r in
                _ = try await r.resolve(B.self); return A()
            }
        }
        let direct = await error { try await container.resolve(B.self) }
        #expect(direct?.code == .notRegistered)
        #expect(direct?.underlying == nil)
        #expect(
            direct?.plainDescription == """
                notRegistered: B is not registered in container "app", nor where it looks. \
                Register it: Registration(B.self) { … }, or check which container is asked.
                """)
        let nested = await error { try await container.resolve(A.self) }
        #expect(
            nested?.plainDescription == """
                notRegistered: B is not registered in container "app", nor where it looks. Path: A → B. \
                Register it: Registration(B.self) { … }, or check which container is asked.
                """)
    }

    @Test func `argumentMismatch`() async throws {
        let container = Container {
            Registration(A.self, qualifier: "q") { (_, number: Int, text: String?) in A() }
        }
        let wrong = await error { try await container.resolve(A.self, qualifier: "q", arguments: "a") }
        #expect(wrong?.code == .argumentMismatch)
        #expect(
            wrong?.plainDescription == """
                argumentMismatch: A[q] was asked for with (String), but is registered with (Int, String?). \
                Pass the arguments that the factory takes, with exactly these types.
                """)
        let tuple = await error { try await container.resolve(A.self, qualifier: "q", arguments: (1, "a")) }
        #expect(
            tuple?.plainDescription == """
                argumentMismatch: A[q] was asked for with ((Int, String)), but is registered with (Int, String?). \
                The argument given is one tuple: pass its elements one by one, arguments: a, b.
                """)
    }

    @Test func `circularDependency`() async throws {
        let container = Container {
            Registration(X.self) { r in
                _ = try await r.resolve(A.self); return X()
            }
            Registration(A.self) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self) { r in
                _ = try await r.resolve(A.self); return B()
            }
        }
        let error = await error { try await container.resolve(X.self) }
        #expect(error?.code == .circularDependency)
        #expect(
            error?.plainDescription == """
                circularDependency: A needs itself to be made. Path: X → A → B → A. \
                Let one of them have the other later: through .injectProperties, or by asking when it is used.
                """)
    }

    @Test func `captiveDependency`() async throws {
        let root = Container(name: "root") {
            Registration(A.self, lifetime: .singleton) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self, lifetime: .scoped) { _ in B() }
        }
        let error = await error { try await root.resolve(A.self) }
        #expect(error?.code == .captiveDependency)
        #expect(
            error?.plainDescription == """
                captiveDependency: A is singleton in container "root" and would hold B, which is made for each \
                scope and here belongs to container "root". Path: A → B. \
                Register A as .scoped, or pass it what it needs when it is called.
                """)
    }

    @Test func `duplicateRegistration`() async throws {
        let container = Container(name: "app", onDuplicate: .reject) { Registration(A.self) { _ in A() } }
        let error = await error { try await container.register(A.self) { _ in A() } }
        #expect(error?.code == .duplicateRegistration)
        #expect(
            error?.plainDescription == """
                duplicateRegistration: A is already registered in container "app", which rejects duplicates. \
                Remove one of them, tell them apart by a qualifier, or choose onDuplicate: .replace or .keep.
                """)
    }

    /// Asks the container when it is described, which would wait for itself under the container's lock.
    private struct Curious: Qualifier, CustomStringConvertible {
        static let container = Locked<Container?>(nil)
        var description: String {
            let container = Self.container.withLock { $0 }
            return (try? container?.ready(Int.self)) == nil ? "curious" : "satisfied"
        }
    }

    @Test func `a qualifier's description is asked for outside the container's lock`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container(onDuplicate: .reject) {
            Registration(Thing.self, qualifier: Curious(), lifetime: .singleton) { _ in try await factory.run() }
        }
        Curious.container.withLock { $0 = container }
        defer { Curious.container.withLock { $0 = nil } }
        let duplicate = await error {
            try await container.register(Thing.self, qualifier: Curious(), instance: Thing())
        }
        #expect(duplicate?.code == .duplicateRegistration)
        let asker = Task { try await container.resolve(Thing.self, qualifier: Curious()) }
        await factory.began()
        let disposal = Task { try await container.dispose() }
        while container.core.withState({ $0.disposal?.current?.contains("creation of") }) != true { await Task.yield() }
        let disposed = await error { try await container.register(Thing.self, qualifier: Curious(), instance: Thing()) }
        #expect(disposed?.code == .disposed)
        factory.answer(Thing())
        _ = await asker.result
        try await disposal.value
    }

    @Test func `invalidRegistration`() async throws {
        let container = Container()
        let hook = await error {
            try await container.register(Registration(A.self, lifetime: .weak) { _ in A() }.onDispose { _ in })
        }
        #expect(hook?.code == .invalidRegistration)
        #expect(
            hook?.plainDescription == """
                invalidRegistration: A is weak and has an onDispose hook, but no container owns the end of its instances. \
                Use a lifetime whose instances the container holds (.singleton, .scoped, .multiton), or close it yourself.
                """)
        let itself = await error { try await container.register(Registration(A.self) { _ in A() }.implements(A.self)) }
        #expect(
            itself?.plainDescription
                == "invalidRegistration: A is registered to implement itself. Remove .implements(A.self).")
    }

    @Test func `typeMismatch`() async throws {
        let container = Container { Registration(A.self) { _ in A() }.implements((any Pet).self) }
        let error = await error { try await container.resolve((any Pet).self) }
        #expect(error?.code == .typeMismatch)
        #expect(
            error?.plainDescription == """
                typeMismatch: A is registered to implement Pet, but does not. \
                Declare the conformance, or convert: .implements((any Pet).self) { … }.
                """)
    }

    @Test func `disposed`() async throws {
        let container = Container(name: "app") { Registration(A.self) { _ in A() } }
        try await container.dispose()
        let resolve = await error { try await container.resolve(A.self) }
        #expect(resolve?.code == .disposed)
        #expect(resolve?.names == ["A"])
        #expect(
            resolve?.plainDescription == """
                disposed: A was asked of container "app", which is disposed. \
                Finish what uses a container before disposing it, and open a new one for what comes after.
                """)
        let scope = await error { try await container.openScope("scope") }
        #expect(scope?.code == .disposed)
        #expect(scope?.names == [])
        #expect(
            scope?.plainDescription == """
                disposed: container "app" is disposed. \
                Finish what uses a container before disposing it, and open a new one for what comes after.
                """)
        let register = await error { try await container.register(A.self, instance: A()) }
        #expect(register?.code == .disposed)
    }

    @Test(arguments: [Lifetime.singleton, .graph, .transient])
    func `creationCancelled`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(A.self, lifetime: lifetime) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self, lifetime: lifetime) { _ in throw CancellationError() }
        }
        let error = await error { try await container.resolve(A.self) }
        #expect(error?.code == .creationCancelled)
        #expect(error?.underlying is CancellationError)
        #expect(
            error?.plainDescription == """
                creationCancelled: the factory of B threw CancellationError, but nobody cancelled it. Path: A → B. \
                Look for a task that the factory cancels itself, and throw an error of your own instead.
                """)
    }

    @Test func `notReady`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { _ in A() }
            Registration(B.self, lifetime: .transient) { _ in B() }
        }
        let shared = await error { try container.ready(A.self) }
        #expect(shared?.code == .notReady)
        #expect(
            shared?.plainDescription
                == "notReady: A has not been created yet. Resolve it once before, or register its instance.")
        let transient = await error { try container.ready(B.self) }
        #expect(
            transient?.plainDescription == """
                notReady: B has not been created yet. \
                A transient instance is made for each request and is never ready: use resolve, or a shared lifetime.
                """)
    }

    @Test func `invalidOperation`() async throws {
        let container = Container(name: "app")
        try await container.register(A.self, lifetime: .singleton) { _ in
            try await container.dispose()
            return A()
        }
        let error = await error { try await container.resolve(A.self) }
        #expect(error?.code == .invalidOperation)
        #expect(
            error?.plainDescription == """
                invalidOperation: the factory of A disposes container "app", which waits for it. \
                Dispose a container from outside its factories.
                """)
    }

    @Test func `disposalTimedOut, in a DisposalError`() async throws {
        let gate = Gate()
        let container = Container(name: "app") {
            Registration(A.self, lifetime: .singleton) { _ in A() }.onDispose { _ in await gate.pass() }
        }
        _ = try await container.resolve(A.self)
        let begun = Task { try await container.dispose() }
        await gate.arrived()
        let error = await #expect(throws: DisposalError.self) { try await container.dispose(deadline: .zero) }
        let timedOut = error?.errors.first as? ResolutionError
        #expect(error?.errors.count == 1)
        #expect(timedOut?.code == .disposalTimedOut)
        #expect(
            timedOut?.plainDescription == """
                disposalTimedOut: the disposal of container "app" has not ended by its deadline: \
                it waits for the onDispose of A. \
                It goes on in the background; look for a hook or a factory that does not return.
                """)
        gate.open()
        try await begun.value
    }

    @Test func `a DisposalError lists what hooks threw`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .multiton) { (_, number: Int) in number }
                .onDispose { throw TestError($0) }
        }
        for number in [1, 2] { _ = try await container.resolve(Int.self, arguments: number) }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose() }
        #expect(error?.errors as? [TestError] == [TestError(2), TestError(1)])
        #expect(error?.description.hasPrefix("disposal failed: TestError(number: 2); TestError(number: 1). ") == true)
    }

    @Test func `keys read as they are asked for`() async throws {
        enum Env: Qualifier { case prod }
        let container = Container {
            Registration(X.self) { r in
                _ = try await r.resolve([String: Int?].self, qualifier: Env.prod, arguments: 1, String?("a"), [2.5])
                return X()
            }
        }
        let error = await error { try await container.resolve(X.self) }
        #expect(error?.names == ["X", "[String: Int?][prod](Int, String?, [Double])"])
        let key = error?.path.last
        #expect(key?.service == [String: Int?].self)
        #expect(key?.qualifier as? Env == .prod)
        #expect(
            key?.argumentTypes.map(ObjectIdentifier.init)
                == [Int.self, String?.self, [Double].self].map(ObjectIdentifier.init))
    }

    @Test func `codes are matched in a catch, compared and printed`() async throws {
        let container = Container()
        do {
            _ = try await container.resolve(A.self)
            Issue.record("nothing is registered")
        } catch ResolutionError.Code.disposed {
            Issue.record("the container is not disposed")
        } catch ResolutionError.Code.notRegistered {
            // As it should be.
        }
        do {
            throw TestError()
        } catch ResolutionError.Code.notRegistered {
            Issue.record("not an error of the container")
        } catch is TestError {
            // As it should be.
        }
        #expect(ResolutionError.Code.disposed != .notReady)
        #expect("\(ResolutionError.Code.captiveDependency)" == "captiveDependency")
    }
}

/// A factory's own error reaches the caller unchanged: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct FactoryErrorTests {
    static let lifetimes: [Lifetime] = [
        .transient, .graph, .singleton, .multiton, .scoped, .weak, Lifetime("custom"),
        Lifetime("stored") { StrongStorage() },
    ]

    @Test(arguments: lifetimes)
    func `a factory's error is the very one that the caller catches`(lifetime: Lifetime) async throws {
        let thrown = IdentifiableError()
        let container = Container { Registration(A.self, lifetime: lifetime) { _ in throw thrown } }
        let caught = await #expect(throws: IdentifiableError.self) { try await container.resolve(A.self) }
        #expect(caught === thrown)
    }

    @Test(arguments: lifetimes, lifetimes)
    func `so is one from deep inside`(outer: Lifetime, inner: Lifetime) async throws {
        let thrown = IdentifiableError()
        let container = Container {
            Registration(using: { (a: A) in X() })
            Registration(A.self, lifetime: outer) { r in
                _ = try await r.resolve(B.self); return A()
            }
            // A weak service is no value: but what fails is never made.
            Registration(B.self, lifetime: inner) { r in
                _ = try await r.resolve(C.self); return B()
            }
            Registration(C.self) { _ in throw thrown }
        }
        // A singleton of the root must not ask for what is scoped.
        let isCaptive = inner == .scoped && [.singleton, .multiton, .weak].contains(outer)
        do {
            _ = try await container.resolve(X.self)
            Issue.record("an error was expected")
        } catch let caught as IdentifiableError {
            #expect(caught === thrown && !isCaptive)
        } catch ResolutionError.Code.captiveDependency {
            #expect(isCaptive)
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak, .multiton])
    func `all waiters get the same error, also inside other creations`(lifetime: Lifetime) async throws {
        let factory = DrivenFactory<A>()
        let thrown = IdentifiableError()
        let container = Container {
            Registration(A.self, lifetime: lifetime) { _ in try await factory.run() }
            Registration(X.self, lifetime: lifetime) { r in
                _ = try await r.resolve(A.self); return X()
            }
            Registration(Y.self) { r in
                _ = try await r.resolve(X.self); return Y()
            }
        }
        let first = Task { _ = try await container.resolve(A.self) }
        await factory.began()
        let others = [
            Task { _ = try await container.resolve(A.self) },
            Task { _ = try await container.resolve(X.self) },
            Task { _ = try await container.resolve(Y.self) },
        ]
        await container.core.waiters(of: A.self, reach: 3)
        await container.core.waiters(of: X.self, reach: 2)
        factory.fail(thrown)
        for asker in [first] + others {
            let caught = await #expect(throws: IdentifiableError.self) { try await asker.value }
            #expect(caught === thrown)
        }
    }

    @Test func `a resolution error that a factory throws again keeps its path`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                _ = try await r.resolve(B.self); return A()
            }
        }
        let original = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        let other = Container {
            Registration(X.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Y.self); return X()
            }
            Registration(Y.self) { _ in throw original! }
        }
        let caught = await #expect(throws: ResolutionError.self) { try await other.resolve(X.self) }
        #expect(caught?.names == ["A", "B"])
        #expect(caught?.description == original?.description)
    }

    @Test func `a factory may catch what a dependency throws, and go another way`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                do {
                    _ = try await r.resolve(B.self)
                } catch ResolutionError.Code.notRegistered {
                    _ = try await r.resolve(C.self)
                }
                return A()
            }
            Registration(C.self) { _ in C() }
        }
        _ = try await container.resolve(A.self)
    }
}

/// The path of an error: DESIGN 2.
@Suite(.timeLimit(.minutes(10))) struct ErrorPathTests {
    @Test(arguments: FactoryErrorTests.lifetimes, FactoryErrorTests.lifetimes)
    func `a nested miss has the path from the service asked for`(outer: Lifetime, inner: Lifetime) async throws {
        let container = Container {
            Registration(A.self, lifetime: outer) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self, lifetime: inner) { r in
                _ = try await r.resolve(C.self); return B()
            }
        }
        let isCaptive = inner == .scoped && [.singleton, .multiton, .weak].contains(outer)
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.code == (isCaptive ? .captiveDependency : .notRegistered))
        #expect(error?.names == (isCaptive ? ["A", "B"] : ["A", "B", "C"]))
        // The same again: nothing of the first time is left.
        let again = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(again?.names == error?.names)
    }

    /// Makes A need B, which waits for the gate and then misses C.
    private func chain(_ gate: Gate, _ outer: Lifetime, _ inner: Lifetime) -> Container {
        Container {
            Registration(A.self, lifetime: outer) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self, lifetime: inner) { r in
                await gate.pass()
                _ = try await r.resolve(C.self)
                return B()
            }
            Registration(X.self, lifetime: .transient) { r in
                _ = try await r.resolve(A.self); return X()
            }
            Registration(Y.self, lifetime: outer) { r in
                _ = try await r.resolve(A.self); return Y()
            }
            Registration([Y].self) { r in try await [r.resolve()] }
        }
    }

    @Test(
        arguments: [Lifetime.singleton, .scoped, .multiton, .weak, Lifetime("custom")],
        [Lifetime.transient, .graph, Lifetime("custom")])
    func `each waiter has the path from what it asked for itself`(outer: Lifetime, inner: Lifetime) async throws {
        let gate = Gate()
        let container = chain(gate, outer, inner)
        let first = Task { _ = try await container.resolve(A.self) }
        await gate.arrived()
        let direct = Task { _ = try await container.resolve(A.self) }
        let through = Task { _ = try await container.resolve(X.self) }
        let inside = Task { _ = try await container.resolve(Y.self) }
        let further = Task { _ = try await container.resolve([Y].self) }
        await container.core.waiters(of: A.self, reach: 4)
        await container.core.waiters(of: Y.self, reach: 2)
        gate.open()
        let expected = [
            (first, ["A", "B", "C"]),
            (direct, ["A", "B", "C"]),
            (through, ["X", "A", "B", "C"]),
            (inside, ["Y", "A", "B", "C"]),
            (further, ["[Y]", "Y", "A", "B", "C"]),
        ]
        for (task, path) in expected {
            let error = await #expect(throws: ResolutionError.self) { try await task.value }
            #expect(error?.code == .notRegistered)
            #expect(error?.names == path)
        }
    }

    @Test func `who waits for the inner creation has the path from there`() async throws {
        let gate = Gate()
        let container = chain(gate, .singleton, .singleton)
        let outer = Task { _ = try await container.resolve(X.self) }
        await gate.arrived()
        let inner = Task { _ = try await container.resolve(B.self) }
        await container.core.waiters(of: B.self, reach: 2)
        gate.open()
        let outerError = await #expect(throws: ResolutionError.self) { try await outer.value }
        let innerError = await #expect(throws: ResolutionError.self) { try await inner.value }
        #expect(outerError?.names == ["X", "A", "B", "C"])
        #expect(innerError?.names == ["B", "C"])
    }

    @Test func `who waits for a graph creation in a child task has the path from its own`() async throws {
        let gate = Gate()
        let paths = Log<[String]>()
        let container = Container {
            Registration(B.self, lifetime: .graph) { r in
                await gate.pass()
                _ = try await r.resolve(C.self)
                return B()
            }
            Registration(A.self, lifetime: .transient) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(X.self) { r in
                await withTaskGroup { group in
                    for _ in 0..<2 {
                        group.addTask {
                            do { _ = try await r.resolve(A.self) } catch {
                                paths.append((error as? ResolutionError)?.names ?? [])
                            }
                        }
                    }
                    await gate.arrived()
                    gate.open()
                }
                return X()
            }
        }
        _ = try await container.resolve(X.self)
        #expect(paths.entries == .init(repeating: ["X", "A", "B", "C"], count: 2))
    }

    @Test(arguments: FactoryErrorTests.lifetimes)
    func `the path goes through using, with several dependencies`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(using: { (x: X, b: B) in A() }, lifetime: lifetime)
            Registration(X.self) { _ in X() }
            Registration(using: { (c: C) in B() })
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.names == ["A", "B", "C"])
    }

    @Test(arguments: FactoryErrorTests.lifetimes)
    func `the path goes through child tasks, detached ones and captured containers`(lifetime: Lifetime) async throws {
        let container = Container()
        try await container.register {
            Registration(A.self, qualifier: "child", lifetime: lifetime) { r in
                async let b = r.resolve(B.self)
                _ = try await b
                return A()
            }
            Registration(A.self, qualifier: "detached", lifetime: lifetime) { r in
                _ = try await Task.detached { try await r.resolve(B.self) }.value
                return A()
            }
            Registration(A.self, qualifier: "captured", lifetime: lifetime) { _ in
                _ = try await container.resolve(B.self)
                return A()
            }
            Registration(B.self) { r in
                _ = try await r.resolve(C.self); return B()
            }
        }
        for way in ["child", "detached", "captured"] {
            let error = await #expect(throws: ResolutionError.self) {
                try await container.resolve(A.self, qualifier: way)
            }
            #expect(error?.names == ["A[\(way)]", "B", "C"])
        }
    }

    @Test func `the path goes on in another container`() async throws {
        let other = Container(name: "other") {
            Registration(B.self) { r in
                _ = try await r.resolve(C.self); return B()
            }
        }
        let parent = Container {
            Registration(A.self, lifetime: .singleton) { _ in
                _ = try await other.resolve(B.self); return A()
            }
        }
        let child = Container(parent: parent) {
            Registration(X.self) { r in
                _ = try await r.resolve(A.self); return X()
            }
        }
        let error = await #expect(throws: ResolutionError.self) { try await child.resolve(X.self) }
        #expect(error?.names == ["X", "A", "B", "C"])
        #expect(error?.description.contains("container \"other\"") == true)
    }

    @Test(arguments: FactoryErrorTests.lifetimes, [true, false])
    func `what a hook misses has the path too`(lifetime: Lifetime, isPropertyHook: Bool) async throws {
        let plain = Registration(B.self, lifetime: lifetime) { _ in B() }
        let container = Container {
            Registration(A.self) { r in
                _ = try await r.resolve(B.self); return A()
            }
            isPropertyHook
                ? plain.injectProperties { r, _ in _ = try await r.resolve(C.self) }
                : plain.onCreate { r, _ in _ = try await r.resolve(C.self) }
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.names == ["A", "B", "C"])
    }

    @Test func `the path names qualifiers and arguments`() async throws {
        let container = Container {
            Registration(A.self, qualifier: "q", lifetime: .singleton) { (r, number: Int) in
                _ = try await r.resolve(B.self, arguments: "\(number)")
                return A()
            }
            Registration(B.self) { (r, text: String) in
                _ = try await r.resolve(C.self, qualifier: text); return B()
            }
        }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(A.self, qualifier: "q", arguments: 7)
        }
        #expect(error?.names == ["A[q](Int)", "B(String)", "C[7]"])
    }

    @Test func `the path of an optional or another type names what is asked for`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                _ = try await r.resolve(B?.self); return A()
            }
            Registration(B.self, lifetime: .singleton) { r in
                _ = try await r.resolve((any Pet).self); return B()
            }
            Registration(Fish.self, lifetime: .singleton) { r in
                _ = try await r.resolve(C.self); return Fish()
            }
            .implements((any Pet).self)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.names == ["A", "B", "Fish", "C"])
    }

    @Test func `what outlives its factory has a path of its own`() async throws {
        let resolvers = Log<Resolver>()
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                resolvers.append(r)
                return A()
            }
        }
        _ = try await container.resolve(A.self)
        let error = await #expect(throws: ResolutionError.self) { try await resolvers.entries[0].resolve(C.self) }
        #expect(error?.names == ["C"])
    }
}
