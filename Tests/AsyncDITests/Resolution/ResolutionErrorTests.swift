import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private struct A: Sendable {}
private struct B: Sendable {}
private struct X: Sendable {}

/// The texts of errors.
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
                notRegistered: B is not registered in container "app" or in any container it searches. Register it: \
                Registration(B.self) { … }, or check which container you resolve from.
                """)
        let nested = await error { try await container.resolve(A.self) }
        #expect(
            nested?.plainDescription == """
                notRegistered: B is not registered in container "app" or in any container it searches. Path: A → B. \
                Register it: Registration(B.self) { … }, or check which container you resolve from.
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
                argumentMismatch: A[q] was requested with (String), but is registered with (Int, String?). Pass the \
                arguments that the factory takes, with exactly these types.
                """)
        let tuple = await error { try await container.resolve(A.self, qualifier: "q", arguments: (1, "a")) }
        #expect(
            tuple?.plainDescription == """
                argumentMismatch: A[q] was requested with ((Int, String)), but is registered with (Int, String?). The \
                argument given is one tuple: pass its elements one by one, arguments: a, b.
                """)
        // Names of these types begin with a parenthesis, too.
        let closure: (@Sendable (Int) -> Void)? = nil
        let composed: (any Collection<Int> & Sendable)? = nil
        for others in [
            await error { try await container.resolve(A.self, qualifier: "q", arguments: closure) },
            await error { try await container.resolve(A.self, qualifier: "q", arguments: composed) },
            await error { try await container.resolve(A.self, qualifier: "q", arguments: ()) },
        ] {
            #expect(others?.advice == "Pass the arguments that the factory takes, with exactly these types.")
        }
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
                circularDependency: A depends on itself. Path: X → A → B → A. Break the cycle: set one dependency in \
                .injectProperties, or resolve it at its use, through a Lazy or a Provider.
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
                captiveDependency: A is singleton in container "root" and would hold B, which is created once per \
                scope and here belongs to container "root". Path: A → B. Give A a Provider<B> to call at each use, \
                register A as .scoped, or pass the instance as an argument of the call.
                """)
    }

    @Test func `duplicateRegistration`() async throws {
        let container = Container(name: "app", onDuplicate: .reject) { Registration(A.self) { _ in A() } }
        let error = await error { try await container.register(A.self) { _ in A() } }
        #expect(error?.code == .duplicateRegistration)
        #expect(
            error?.plainDescription == """
                duplicateRegistration: A is already registered in container "app", which rejects duplicates. Remove \
                one of them, distinguish them by a qualifier, or choose onDuplicate: .replace or .keep.
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
        while container.core.disposal.subject?.facts.text.contains("creation of") != true { await Task.yield() }
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
                invalidRegistration: A is weak and has an onDispose hook, but no container owns the end of its \
                instances. Use a lifetime whose instances the container owns (.singleton, .scoped, .multiton), or \
                close them yourself.
                """)
        let itself = await error { try await container.register(Registration(A.self) { _ in A() }.implements(A.self)) }
        #expect(
            itself?.plainDescription
                == "invalidRegistration: A is registered to implement itself. Remove .implements(A.self).")
        let invalid = Container { Registration(A.self) { _ in A() }.implements(A.self) }
        let validation = await #expect(throws: ValidationError.self) { try await invalid.validate() }
        let problems = validation?.problems.map(\.plainDescription)
        #expect(problems == itself.map { [$0.plainDescription] }, "reported once, and not followed")
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
                disposed: A was requested from container "app", which is disposed. Dispose a container after its last use, \
                and create a new one for later work.
                """)
        let scope = await error { try await container.openScope("scope") }
        #expect(scope?.code == .disposed)
        #expect(scope?.names == [])
        #expect(
            scope?.plainDescription == """
                disposed: container "app" is disposed. Dispose a container after its last use, and create a new one \
                for later work.
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
                creationCancelled: the factory, a hook or a decoration of B threw CancellationError, although its task was not \
                cancelled. Path: A → B. Look for a task that this code itself cancels, and throw your own error instead.
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
            shared?.plainDescription == """
                notReady: A has not been created yet. Make it .eager() and await start(), resolve it first, or \
                register an instance.
                """)
        let transient = await error { try container.ready(B.self) }
        #expect(
            transient?.plainDescription == """
                notReady: B has not been created yet. A transient instance is created for each request and is never \
                ready: use resolve, or a shared lifetime.
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
                disposalTimedOut: the disposal of container "app" did not end by its deadline: it waits for the \
                onDispose of A. It continues in the background; look for a hook, a factory or a body that does \
                not return.
                """)
        gate.open()
        try await begun.value
    }

    @Test func `a DisposalError lists the errors of hooks`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .multiton, fileID: "App/A.swift", line: 1) { (_, number: Int) in number }
                .onDispose { throw TestError($0) }
        }
        for number in [1, 2] { _ = try await container.resolve(Int.self, arguments: number) }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose() }
        #expect(error?.errors as? [TestError] == [TestError(2), TestError(1)])
        #expect(
            error?.description == """
                disposal failed: Int(Int) (App/A.swift:1): TestError(number: 2); Int(Int) (App/A.swift:1): \
                TestError(number: 1). All other instances that were to be disposed have been. Look at the onDispose hooks of \
                those that failed.
                """)
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
