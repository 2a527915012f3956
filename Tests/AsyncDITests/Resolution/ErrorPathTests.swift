import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private struct Fish: Pet {}
private struct A: Sendable {}
private struct B: Sendable {}
private struct C: Sendable {}
private struct X: Sendable {}
private struct Y: Sendable {}

/// The path of an error.
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
        let isCaptive = (inner == .scoped || inner.isResettable) && outer.outlivesScopes
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.code == (isCaptive ? .captiveDependency : .notRegistered))
        #expect(error?.names == (isCaptive ? ["A", "B"] : ["A", "B", "C"]))
        // The same again: no state of the first time remains.
        let again = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(again?.names == error?.names)
    }

    private final class First: @unchecked Sendable {
        var second: Second?
    }
    private final class Second: Sendable {
        let first: First
        init(_ first: First) { self.first = first }
    }

    @Test(arguments: [Lifetime.graph, .singleton, .scoped])
    func `the path of an error in a cycle of properties begins at the service asked for`(
        lifetime: Lifetime
    ) async throws {
        let container = Container {
            Registration(First.self, lifetime: lifetime) { _ in First() }
                .injectProperties { r, first in
                    first.second = try await r.resolve()
                    _ = try await r.resolve(Int.self)
                }
            Registration(Second.self, lifetime: lifetime) { r in Second(try await r.resolve()) }
        }
        // Which of the two fails first is a matter of chance.
        for _ in 0..<100 {
            let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Second.self) }
            #expect(error?.names == ["Second", "First", "Int"])
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped])
    func `the path begins at the service asked for when a property fails while its instance is in use`(
        lifetime: Lifetime
    ) async throws {
        let (isInUse, mayFail) = (Gate(), Gate())
        let container = Container {
            Registration(First.self, lifetime: lifetime) { _ in First() }
                .injectProperties { r, _ in
                    async let second: Second = r.resolve()
                    await mayFail.pass()
                    _ = try await r.resolve(Int.self)
                    _ = try await second
                }
            Registration(Second.self, lifetime: lifetime) { r in
                let first: First = try await r.resolve()
                await isInUse.pass()
                return Second(first)
            }
        }
        let second = Task { _ = try await container.resolve(Second.self) }
        await isInUse.arrived()
        await mayFail.arrived()
        let first = Task { _ = try await container.resolve(First.self) }
        await container.core.waiters(of: First.self, reach: 1)
        mayFail.open()
        await expect(.notRegistered, path: ["First", "Int"]) { try await first.value }
        isInUse.open()
        await expect(.notRegistered, path: ["Second", "First", "Int"]) { try await second.value }
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
    func `each waiter has the path from its own request`(outer: Lifetime, inner: Lifetime) async throws {
        // Instances that outlive scopes must not hold resettable ones.
        if inner.isResettable, outer.outlivesScopes { return }
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
            let error = await expect(.notRegistered) { try await task.value }
            #expect(error?.names == path)
        }
    }

    @Test func `a waiter for the inner creation has the path from there`() async throws {
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

    @Test func `a waiter for a graph creation in a child task has the path from its own request`() async throws {
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
    func `a hook's resolution error has the path too`(lifetime: Lifetime, isPropertyHook: Bool) async throws {
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

    @Test func `the path through an optional or another type names the service`() async throws {
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

    @Test func `a resolver that outlives its factory has a path of its own`() async throws {
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
