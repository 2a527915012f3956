import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}
private protocol Pet: Sendable {}
private struct Cat: Pet {}
private enum Env: Qualifier { case prod }

/// The message of each kind of error, to the letter: its origin, and the next step; ``ValidationMessageTests`` has those of
/// a validation.
@Suite(.timeLimit(.minutes(10))) struct MessageTests {
    /// A container in which A, at App/A.swift:1, is created by the given factory.
    private func container(
        _ lifetime: Lifetime = .graph,
        makingA factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> A
    ) -> Container {
        Container(name: "app") {
            Registration(A.self, lifetime: lifetime, fileID: "App/A.swift", line: 1, factory: factory)
        }
    }

    @Test func `notRegistered`() async {
        let container = container { r in
            _ = try await r.resolve(B.self)
            return A()
        }
        #expect(
            await message { try await container.resolve(A.self) } == """
                notRegistered: B is not registered in container "app" or in any container it searches. Path: A \
                (App/A.swift:1) → B. Register it: Registration(B.self) { … }, or check which container you resolve \
                from.
                """)
        let direct = await expect(.notRegistered, path: ["B"]) { try await container.resolve(B.self) }
        #expect(direct?.underlying == nil)
        #expect(
            direct?.description == """
                notRegistered: B is not registered in container "app" or in any container it searches. Register it: \
                Registration(B.self) { … }, or check which container you resolve from.
                """)
    }

    @Test func `notRegistered, for the container itself`() async {
        #expect(
            await message { try await Container(name: "app").resolve(Container.self) } == """
                notRegistered: Container is not registered in container "app" or in any container it searches. \
                Request a Resolver in its place: a container that is registered in itself holds itself, and is never \
                freed.
                """)
    }

    @Test func `notRegistered, where a scope has the value under another type or qualifier`() async throws {
        let container = Container(name: "app") {
            Registration(expected: (any Pet).self, fileID: "App/A.swift", line: 1)
            Registration(expected: B.self, qualifier: Env.prod, fileID: "App/B.swift", line: 2)
        }
        try await container.withScope("request") {
            Registration(instance: Cat())
            Registration(instance: B())
        } operation: { scope in
            let pet = await message { try await scope.resolve((any Pet).self) }
            #expect(
                pet == """
                    notRegistered: Pet is expected from each scope, but container "request" did not supply it. \
                    Registered at App/A.swift:1. It has Cat: supply the value under the expected key, Registration((any Pet).self, instance: …).
                    """)
            let value = await message { try await scope.resolve(B.self, qualifier: Env.prod) }
            #expect(
                value == """
                    notRegistered: B[prod] is expected from each scope, but container "request" did not supply it. \
                    Registered at App/B.swift:2. It has B: supply the value under the expected key, Registration(B.self, qualifier: Env.prod, instance: …).
                    """)
        }
    }

    @Test func `notRegistered, where this scope hides a value of the scope that it was opened in`() async throws {
        let container = Container(name: "app") { Registration(expected: B.self) }
        try await container.withScope("request") {
            Registration(instance: B())
        } operation: { request in
            let inner = try await request.openScope("inner") { Registration(expected: B.self) }
            let text = await message { try await inner.resolve(B.self) }
            #expect(text.contains("container \"inner\" did not supply it") && !text.contains("call withScope there"))
        }
    }

    @Test func `notRegistered, where the scope around this one has the value`() async throws {
        let container = Container(name: "app") { Registration(expected: B.self, fileID: "App/B.swift", line: 2) }
        try await container.withScope("request") {
            Registration(instance: B())
        } operation: { request in
            try await container.withScope("inner") { inner in
                #expect(
                    await message { try await inner.resolve(B.self) } == """
                        notRegistered: B is expected from each scope, but container "inner" did not supply it. \
                        Registered at App/B.swift:2. container "request" supplies it, but this scope was not opened in that one: call withScope there.
                        """)
            }
            try await request.withScope("inner") { inner in _ = try await inner.resolve(B.self) }
        }
    }

    @Test func `notRegistered, with more similar keys than a message has room for`() async {
        let container = Container(name: "app") {
            for number in 1...7 { Registration(B.self, qualifier: .named("\(number)"), instance: B()) }
        }
        #expect(
            await message { try await container.resolve(B.self) } == """
                notRegistered: B is not registered in container "app" or in any container it searches. Registered: \
                B[1], B[2], B[3], B[4], B[5] and 2 more.
                """)
    }

    @Test func `argumentMismatch`() async {
        let container = Container(name: "app") {
            Registration(A.self, qualifier: "q") { (_, _: Int, _: String?) in A() }
        }
        #expect(
            await message { try await container.resolve(A.self, qualifier: "q", arguments: "a") } == """
                argumentMismatch: A[q] was requested with (String), but is registered with (Int, String?). Pass the \
                arguments that the factory takes, with exactly these types.
                """)
        #expect(
            await message { try await container.resolve(A.self, qualifier: "q", arguments: (1, "a")) } == """
                argumentMismatch: A[q] was requested with ((Int, String)), but is registered with (Int, String?). The \
                argument given is one tuple: pass its elements one by one, arguments: a, b.
                """)
        // Names of these types begin with a parenthesis, too.
        let closure: (@Sendable (Int) -> Void)? = nil
        let composed: (any Collection<Int> & Sendable)? = nil
        for others in [
            await message { try await container.resolve(A.self, qualifier: "q", arguments: closure) },
            await message { try await container.resolve(A.self, qualifier: "q", arguments: composed) },
            await message { try await container.resolve(A.self, qualifier: "q", arguments: ()) },
        ] {
            #expect(others.hasSuffix("Pass the arguments that the factory takes, with exactly these types."))
        }
    }

    @Test func `circularDependency`() async throws {
        let container = container { r in try await r.resolve(A.self) }
        try await container.register(B.self, fileID: "App/B.swift", line: 2) { r in
            _ = try await r.resolve(A.self)
            return B()
        }
        #expect(
            await message { try await container.resolve(B.self) } == """
                circularDependency: A depends on itself. Path: B (App/B.swift:2) → A (App/A.swift:1) → A \
                (App/A.swift:1). Break the cycle: set one dependency in .injectProperties, or resolve it at its use, \
                through a Lazy or a Provider.
                """)
    }

    @Test func `captiveDependency`() async throws {
        let container = container(.singleton) { r in
            _ = try await r.resolve(B.self)
            return A()
        }
        try await container.register(B.self, lifetime: .scoped, fileID: "App/B.swift", line: 2) { _ in B() }
        #expect(
            await message { try await container.resolve(A.self) } == """
                captiveDependency: A is singleton in container "app" and would hold B, which is created once per scope \
                and here belongs to container "app". Path: A (App/A.swift:1) → B (App/B.swift:2). Give A a Provider<B> \
                to call at each use, register A as .scoped, or pass the instance as an argument of the call.
                """)
        // Contributions are requested together.
        let many = Container {
            Registration(A.self, lifetime: .singleton) { r in
                _ = try await r.resolve([B].self)
                return A()
            }
            Registration(B.self, lifetime: .scoped) { _ in B() }.intoMany()
        }
        #expect(await message { try await many.resolve(A.self) }.contains("Give A a Provider<[B]> to call"))
        // A scoped service that would hold one of a scope inside its own cannot be scoped more narrowly.
        let nested = Container {
            Registration(A.self, lifetime: .scoped) { r in
                try await #require(r.container).withScope { _ = try await $0.resolve(B.self) }
                return A()
            }
            Registration(B.self, lifetime: .scoped) { _ in B() }
        }
        #expect(
            await message { try await nested.resolve(A.self) }
                .contains("Provider<B> to call at each use, resolve A in that scope, or pass the instance"))
    }

    @Test func `duplicateRegistration`() async {
        let container = Container(name: "app", onDuplicate: .reject) {
            Registration(A.self, fileID: "App/A.swift", line: 1) { _ in A() }
        }
        #expect(
            await message { try await container.register(A.self, fileID: "App/B.swift", line: 2) { _ in A() } } == """
                duplicateRegistration: A is already registered in container "app" (App/A.swift:1), which rejects \
                duplicates. Registered at App/B.swift:2. Remove one of them, distinguish them by a qualifier, or \
                choose onDuplicate: .replace or .keep.
                """)
    }

    @Test func `invalidRegistration`() async throws {
        let container = Container(name: "app") {
            Registration(A.self, lifetime: .weak, fileID: "App/A.swift", line: 1) { _ in A() }.onDispose { _ in }
        }
        #expect(
            await message { try await container.resolve(A.self) } == """
                invalidRegistration: A is weak and has an onDispose hook, but no container owns the end of its \
                instances. Registered at App/A.swift:1. Use a lifetime whose instances the container owns (.singleton, \
                .scoped, .multiton), or close them yourself.
                """)
        let itself = Registration(A.self, fileID: "App/A.swift", line: 1) { _ in A() }.implements(A.self)
        let text = """
            invalidRegistration: A is registered to implement itself. Registered at App/A.swift:1. \
            Remove .implements(A.self).
            """
        #expect(await message { try await Container().register(itself) } == text)
        let validation = await #expect(throws: ValidationError.self) { try await Container { itself }.validate() }
        #expect(validation?.problems.map(\.description) == [text], "reported once, and not followed")
    }

    @Test func `typeMismatch`() async {
        let container = Container(name: "app") {
            Registration(A.self, fileID: "App/A.swift", line: 1) { _ in A() }.implements((any Pet).self)
        }
        #expect(
            await message { try await container.resolve((any Pet).self) } == """
                typeMismatch: A is registered to implement Pet, but does not. Registered at App/A.swift:1. Declare the \
                conformance, or convert: .implements((any Pet).self) { … }.
                """)
    }

    @Test func `disposed`() async throws {
        let container = container { _ in A() }
        try await container.dispose()
        #expect(
            await message { try await container.resolve(A.self) } == """
                disposed: A was requested from container "app", which is disposed. Dispose a container after its last use, \
                and create a new one for later work.
                """)
        #expect(
            await message { try await container.register(B.self) { _ in B() } } == """
                disposed: B was registered in container "app", which is disposed. Dispose a container after its last use, \
                and create a new one for later work.
                """)
        #expect(
            await expect(.disposed, path: []) { try await container.openScope("scope") }?.description == """
                disposed: container "app" is disposed. Dispose a container after its last use, and create a new one \
                for later work.
                """)
    }

    @Test func `creationCancelled`() async {
        let container = container { _ in throw CancellationError() }
        #expect(
            await message { try await container.resolve(A.self) } == """
                creationCancelled: the factory, a hook or a decoration of A threw CancellationError, although its task was not \
                cancelled. Registered at App/A.swift:1. Look for a task that this code itself cancels, and throw your \
                own error instead.
                """)
    }

    @Test func `noCurrentContainer`() {
        #expect(
            Injection.noContainer(ServiceKey(A.self)).description == """
                noCurrentContainer: A was requested without a current or a default container. Set Injection.default at \
                start-up, or run the code inside withScope or Injection.with(container).
                """)
    }

    @Test func `notReady`() async {
        let container = container(.singleton) { _ in A() }
        #expect(
            await message { try container.ready(A.self) } == """
                notReady: A has not been created yet. Registered at App/A.swift:1. Make it .eager() and await \
                start(), resolve it first, or register an instance.
                """)
        let transient = self.container(.transient) { _ in A() }
        #expect(
            await message { try transient.ready(A.self) } == """
                notReady: A has not been created yet. Registered at App/A.swift:1. A transient instance is created \
                for each request and is never ready: use resolve, or a shared lifetime.
                """)
    }

    @Test func `invalidArgument`() async {
        let container = Container(name: "app") {
            Registration(A.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { (_, _: Double) in A() }
        }
        #expect(
            await message { try await container.resolve(A.self, arguments: Double.nan) } == """
                invalidArgument: the arguments of A(Double) are not equal to themselves, so its instance could never \
                be found again. Registered at App/A.swift:1. Do not pass NaN, check == of the arguments' types, or \
                register the service as .transient.
                """)
    }

    @Test func `disposalTimedOut and DisposalError`() async throws {
        let gate = Gate()
        let container = Container(name: "app") {
            Registration(A.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { _ in A() }
                .onDispose { _ in await gate.pass() }
        }
        _ = try await container.resolve(A.self)
        let disposal = Task { try await container.dispose() }
        await gate.arrived()
        #expect(
            await message { try await container.dispose(deadline: .zero) } == """
                disposal failed: disposalTimedOut: the disposal of container "app" did not end by its deadline: it \
                waits for the onDispose of A. Registered at App/A.swift:1. It continues in the background; look for a \
                hook, a factory or a body that does not return.
                """)
        gate.open()
        try await disposal.value
        #expect(
            "\(DisposalError(errors: [TestError(2), TestError(1)]))" == """
                disposal failed: TestError(number: 2); TestError(number: 1). All other instances that were to be \
                disposed have been. Look \
                at the onDispose hooks of those that failed.
                """)
    }

    @Test func `invalidOperation`() async throws {
        let container = Container(name: "app")
        try await container.register(A.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) {
            [weak container] _ in
            try await container?.dispose()
            return A()
        }
        #expect(
            await message { try await container.resolve(A.self) } == """
                invalidOperation: the factory of A disposes container "app", which waits for it. Registered at \
                App/A.swift:1. Dispose a container from outside its factories.
                """)
    }

    @Test func `a dictionary of missing contributions`() async {
        let container = Container(name: "app")
        #expect(
            await message { try await container.resolve([String: any Pet].self) } == """
                notRegistered: [String: Pet] is not registered in container "app" or in any container it searches. \
                Contribute to it, with a key of type String: Registration((any Pet).self) { … }.intoMany(key: …), or \
                check which container you resolve from.
                """)
    }
}
