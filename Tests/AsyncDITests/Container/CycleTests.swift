import Testing

@testable import AsyncDI

private final class A: Sendable {}
private final class B: Sendable {}
private final class C: Sendable {}
private final class D: Sendable {}

/// Cycles end in an error, never in a hang.
@Suite(.timeLimit(.minutes(10))) struct CycleTests {
    static let lifetimes: [Lifetime] = [.transient, .graph, .scoped, .singleton, .weak, Lifetime("custom")]

    @Test func `the advice for a cycle of transient services names no hook`() async throws {
        let container = Container(defaultLifetime: .transient) {
            Registration(A.self) { r in
                _ = try await r.resolve(B.self)
                return A()
            }
            .dependencies(B.self)
            Registration(B.self) { r in
                _ = try await r.resolve(A.self)
                return B()
            }
            .dependencies(A.self)
            // It is not part of the cycle.
            Registration(C.self, lifetime: .singleton) { r in
                _ = try await r.resolve(A.self)
                return C()
            }
            .dependencies(A.self)
        }
        let advice = "Break the cycle: resolve one dependency at its use, through a Lazy or a Provider."
        for request in [{ _ = try await container.resolve(A.self) }, { _ = try await container.resolve(C.self) }] {
            #expect(await #expect(throws: ResolutionError.self) { try await request() }?.advice == advice)
        }
        let problems = try await container.validationReport().problems
        #expect(problems.map(\.advice) == [advice])
        // The hook of any other service in the cycle can.
        try await container.register(A.self, lifetime: .graph) { r in
            _ = try await r.resolve(B.self)
            return A()
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        #expect(error?.advice?.contains(".injectProperties") == true)
    }

    @Test(arguments: lifetimes, lifetimes)
    func `a factory cycle is refused with its whole path`(first: Lifetime, second: Lifetime) async throws {
        // A singleton or weak service that needs a scoped one of the root, or one that can be reset, is refused for
        // that reason, before any cycle.
        let isShortLived = [first, second].contains { $0 == .scoped || $0.isResettable }
        if isShortLived, first.outlivesScopes || second.outlivesScopes { return }
        let container = Container {
            Registration(A.self, lifetime: first) { r in
                _ = try await r.resolve(B.self)
                return A()
            }
            Registration(B.self, lifetime: second) { r in
                _ = try await r.resolve(C.self)
                return B()
            }
            Registration(C.self, lifetime: first) { r in
                _ = try await r.resolve(A.self)
                return C()
            }
        }
        await expect(.circularDependency, path: ["A", "B", "C", "A"]) { _ = try await container.resolve(A.self) }
        // No state remains: the second attempt has the same error.
        await expect(.circularDependency, path: ["B", "C", "A", "B"]) { _ = try await container.resolve(B.self) }
    }

    @Test(arguments: lifetimes)
    func `a service that asks for itself is refused`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(A.self, lifetime: lifetime) { r in try await r.resolve(A.self) }
        }
        await expect(.circularDependency, path: ["A", "A"]) { _ = try await container.resolve(A.self) }
    }

    @Test(arguments: lifetimes)
    func `a cycle through a captured container is refused`(lifetime: Lifetime) async throws {
        let container = Container()
        try await container.register(A.self, lifetime: lifetime) { [unowned container] _ in
            _ = try await container.resolve(B.self)
            return A()
        }
        try await container.register(B.self, lifetime: lifetime) { [unowned container] _ in
            _ = try await container.resolve(A.self)
            return B()
        }
        await expect(.circularDependency, path: ["A", "B", "A"]) { _ = try await container.resolve(A.self) }
    }

    @Test(arguments: lifetimes)
    func `a cycle through child tasks is refused`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(A.self, lifetime: lifetime) { r in
                async let b = r.resolve(B.self)
                async let number = r.resolve(Int.self)
                _ = try await (b, number)
                return A()
            }
            Registration(B.self, lifetime: lifetime) { r in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await r.resolve(A.self) }
                    try await group.waitForAll()
                }
                return B()
            }
            Registration(Int.self, lifetime: lifetime) { _ in 1 }
        }
        await expect(.circularDependency, path: ["A", "B", "A"]) { _ = try await container.resolve(A.self) }
    }

    @Test(arguments: lifetimes)
    func `a cycle through a detached task is refused, for the resolver knows its creation`(lifetime: Lifetime)
        async throws
    {
        let container = Container {
            Registration(A.self, lifetime: lifetime) { r in
                _ = try await Task.detached { try await r.resolve(B.self) }.value
                return A()
            }
            Registration(B.self, lifetime: lifetime) { r in
                _ = try await Task.detached { try await r.resolve(A.self) }.value
                return B()
            }
        }
        await expect(.circularDependency, path: ["A", "B", "A"]) { _ = try await container.resolve(A.self) }
    }

    @Test func `a request for a member of a failed cycle of properties has a path that begins with its service`()
        async throws
    {
        struct Missing: Sendable {}
        final class One: Sendable {}
        final class Other: Sendable {}
        struct User: Sendable { let other: Other }
        let mayFail = Gate()
        let container = Container {
            Registration(lifetime: .singleton) { _ in One() }.injectProperties { r, _ in
                _ = try await r.resolve(Other.self)
                await mayFail.pass()
                _ = try await r.resolve(Missing.self)
            }
            Registration(lifetime: .singleton) { _ in Other() }.injectProperties { r, _ in
                _ = try await r.resolve(One.self)
            }
            Registration(using: User.init, lifetime: .singleton)
        }
        func path<S: Sendable>(_ service: S.Type) -> Task<[String], Never> {
            Task {
                await expect(.notRegistered) { try await container.resolve(service) }?.path.map(\.description) ?? []
            }
        }
        let one = path(One.self)
        await mayFail.arrived()
        let (other, user) = (path(Other.self), path(User.self))
        // The third one is that of the hook of `One`.
        await container.core.waiters(of: Other.self, reach: 3)
        mayFail.open()
        #expect(await one.value == ["One", "Missing"])
        #expect(await other.value == ["Other", "One", "Missing"])
        #expect(await user.value == ["User", "Other", "One", "Missing"])
    }

    @Test func `a cycle over arguments is one only when they are equal`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .transient) { (r, n: Int) in
                n == 0 ? 0 : try await r.resolve(Int.self, arguments: n - 1) + 1
            }
            Registration(String.self, lifetime: .singleton) { (r, n: Int) in
                n == 0 ? "" : try await r.resolve(String.self, arguments: n - 1) + "."
            }
            Registration(Double.self, lifetime: .graph) { (r, n: Int) in
                try await r.resolve(Double.self, arguments: (n + 1) % 3)
            }
        }
        #expect(try await container.resolve(Int.self, arguments: 50) == 50)
        #expect(try await container.resolve(String.self, arguments: 50).count == 50)
        await #expect(throws: ResolutionError.self) { try await container.resolve(Double.self, arguments: 0) }
    }

    @Test func `a cycle that closes between tasks is refused, and only its closing edge`() async throws {
        let (inA, inB, refusals) = (Gate(), Gate(), Counter())
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                await inA.pass()
                _ = try await r.resolve(B.self)
                return A()
            }
            Registration(B.self, lifetime: .singleton) { r in
                await inB.pass()
                do {
                    _ = try await r.resolve(A.self)
                } catch ResolutionError.Code.circularDependency {
                    // Goes another way, and succeeds.
                    refusals.increment()
                }
                return B()
            }
        }
        let first = Task { try await container.resolve(A.self) }
        let second = Task { try await container.resolve(B.self) }
        await inA.arrived()
        await inB.arrived()
        inA.open()
        await container.core.waiters(of: B.self, reach: 2)  // The second task, and A.
        inB.open()
        _ = try await first.value
        _ = try await second.value
        #expect(refusals.value == 1)
    }

    @Test func `a cycle between tasks has the whole path for each of them`() async throws {
        let (inA, inB) = (Gate(), Gate())
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                await inA.pass()
                _ = try await r.resolve(B.self)
                return A()
            }
            Registration(B.self, lifetime: .singleton) { r in
                await inB.pass()
                _ = try await r.resolve(A.self)
                return B()
            }
        }
        let first = Task { try await container.resolve(A.self) }
        let second = Task { try await container.resolve(B.self) }
        await inA.arrived()
        await inB.arrived()
        inA.open()
        await container.core.waiters(of: B.self, reach: 2)
        inB.open()
        await expect(.circularDependency, path: ["A", "B", "A"]) { _ = try await first.value }
        await expect(.circularDependency, path: ["B", "A", "B"]) { _ = try await second.value }
    }

    @Test func `a cycle over parents, children and unrelated containers is refused`() async throws {
        let parent = Container(name: "parent")
        let child = Container(name: "child", parent: parent)
        let other = Container(name: "other")
        try await parent.register(A.self, lifetime: .singleton) { _ in
            _ = try await child.resolve(B.self)
            return A()
        }
        try await child.register(B.self, lifetime: .transient) { _ in
            _ = try await other.resolve(C.self)
            return B()
        }
        try await other.register(C.self, lifetime: .singleton) { _ in
            _ = try await child.resolve(A.self)
            return C()
        }
        await expect(.circularDependency, path: ["A", "B", "C", "A"]) { _ = try await parent.resolve(A.self) }
        await expect(.circularDependency, path: ["C", "A", "B", "C"]) { _ = try await other.resolve(C.self) }
        try await parent.dispose()
        try await other.dispose()
    }

    // MARK: No false positives

    @Test(arguments: lifetimes)
    func `a diamond is no cycle, from many tasks`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(D.self, lifetime: lifetime) { _ in D() }
            Registration(B.self, lifetime: lifetime) { r in
                _ = try await r.resolve(D.self)
                return B()
            }
            Registration(C.self, lifetime: lifetime) { r in
                _ = try await r.resolve(D.self)
                return C()
            }
            Registration(A.self, lifetime: lifetime) { r in
                async let b = r.resolve(B.self)
                async let c = r.resolve(C.self)
                _ = try await (b, c)
                return A()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { _ = try await container.resolve(A.self) }
                group.addTask { _ = try await container.resolve(C.self) }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a task that outlives its factory is not inside the creation any more`() async throws {
        let gate = Gate()
        let late = Log<Task<A, any Error>>()
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                late.append(
                    Task {
                        await gate.pass()
                        return try await r.resolve(A.self)
                    })
                return A()
            }
        }
        let a = try await container.resolve(A.self)
        gate.open()
        #expect(try await late.entries[0].value === a)
    }

    @Test func `the wait of a task that outlives its factory is none of the creation`() async throws {
        try await finishes {
            let (mayRequest, late, inside) = (Gate(), Log<Task<Void, any Error>>(), Log<Container>())
            let container = Container {
                Registration(A.self, lifetime: .singleton) { r in
                    try await #require(r.container).withScope { scope in
                        // With a container inside, the end of the scope is a wait.
                        inside.append(Container(parent: scope))
                        // Not as a part of the creation, whose instance would outlive this one.
                        _ = try await Task.detached { try await scope.resolve(B.self) }.value
                        mayRequest.open()
                        await until { scope.core.parent?.waiterCount(of: A.self) == 2 }
                    }
                    return A()
                }
                Registration(B.self, lifetime: .scoped) { r in
                    late.append(Task { _ = try await r.resolve(C.self) })
                    await mayRequest.arrived()
                    return B()
                }
                Registration(C.self, lifetime: .transient) { r in
                    await mayRequest.pass()
                    _ = try await r.resolve(A.self)
                    return C()
                }
            }
            let request = Task { try await container.resolve(A.self) }
            _ = try await request.value
            _ = try? await late.entries.first?.value
            try await container.dispose()
        }
    }

    @Test func `a registration appears once in a path, whatever graph it was made in`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .graph) { r in
                _ = try await r.resolve(B.self)
                return A()
            }
            Registration(B.self, lifetime: .singleton) { r in
                _ = try await r.resolve(A.self)
                return B()
            }
        }
        await expect(.circularDependency, path: ["A", "B", "A"]) { _ = try await container.resolve(A.self) }
    }
}
