import Testing

@testable import AsyncDI

/// Work under way ends, and no new work begins.
@Suite(.timeLimit(.minutes(10))) struct DrainTests {
    private let log = Log<String>()

    /// A container in which a request's body runs until the gate opens, and the dependencies that it then needs.
    private func container() -> Container {
        Container(name: "app") {
            Registration(Int.self, lifetime: .singleton) { _ in 7 }
            Registration(String.self, lifetime: .singleton) { _ in "late" }
            Registration(Double.self, lifetime: .transient) { _ in 0.5 }
            Registration(Character.self) { _ in "g" }
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
                .onDispose { [log] thing in log.append("closed \(thing.number)") }
            Registration(Set<Int>.self, lifetime: .scoped) { _ in [] }
                .onDispose { [log] _, reason in log.append(reason.error == nil ? "committed" : "rolled back") }
        }
    }

    /// Yields until a container is being drained.
    private func drains(_ container: Container) async {
        while !container.table.isDraining { await Task.yield() }
    }

    @Test func `running bodies end undisturbed, creating what they still need, before anything is disposed`()
        async throws
    {
        let container = container()
        let mayEnd = Gate()
        let request = Task {
            try await container.withScope("request") { scope in
                _ = try await scope.resolve(Set<Int>.self)
                await mayEnd.pass()
                // A singleton, a leased multiton, a nested scope, and others, none of which exists yet.
                let made = (
                    try await container.resolve(String.self), try await scope.resolve(Double.self),
                    try await container.resolve(Character.self)
                )
                #expect(made == ("late", 0.5, "g"))
                let number = try await container.withInstance(Thing.self, arguments: 1) { $0.number }
                #expect(number == 1)
                try await container.withScope { _ = try await $0.resolve(Set<Int>.self) }
                return 9
            }
        }
        await mayEnd.arrived()
        let drain = Task { try await container.drain() }
        await drains(container)
        #expect(log.entries.isEmpty)
        mayEnd.open()
        #expect(try await request.value == 9)
        try await drain.value
        #expect(log.entries == ["committed", "committed", "closed 1"])
        await expect(.disposed) { _ = try await container.resolve(Int.self) }
    }

    @Test func `from outside no scope, lease or creation begins, and cached instances are still given out`()
        async throws
    {
        let container = container()
        #expect(try await container.resolve(Int.self) == 7)
        let cached = try await container.resolve(Thing.self, arguments: 3)
        let (later, never) = (try await container.resolve(Lazy<Int>.self), Lazy(String.self, from: container))
        let mayEnd = Gate()
        let request = Task { try await container.withScope { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        let drain = Task { try await container.drain() }
        await drains(container)
        #expect(try await container.resolve(Int.self) == 7)
        #expect(try await later() == 7)
        #expect(try await Lazy(Int.self, from: container)() == 7)
        await expect(.disposed) { _ = try await never() }
        #expect(try container.ready(Int.self) == 7)
        #expect(try await container.resolve(Thing.self, arguments: 3) === cached)
        await expect(.disposed) { try await container.withScope { _ in } }
        await expect(.disposed) { _ = try await container.openScope() }
        await expect(.disposed) { _ = try await container.resolve(String.self) }
        await expect(.disposed) { _ = try await container.resolve(Double.self) }
        await expect(.disposed) { _ = try await container.resolve(Character.self) }
        await expect(.disposed) { _ = try await container.resolve(Thing.self, arguments: 4) }
        await expect(.disposed) { try await container.withInstance(Thing.self, arguments: 3) { _ in } }
        mayEnd.open()
        try await request.value
        try await drain.value
        #expect(log.entries == ["closed 3"])
    }

    @Test func `a lease is waited for, and a creation in flight too`() async throws {
        let factory = DrivenFactory<Int>()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in try await factory.run() }
                .onDispose { [log] _ in log.append("closed") }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
        }
        let mayEnd = Gate()
        let body = Task {
            try await container.withInstance(Thing.self) { _ in
                await mayEnd.pass()
                log.append("lease ended")
            }
        }
        await mayEnd.arrived()
        let request = Task { try await container.resolve(Int.self) }
        await factory.began()
        let drain = Task { try await container.drain() }
        await drains(container)
        mayEnd.open()
        try await body.value
        factory.answer(5)
        #expect(try await request.value == 5, "the creation was not cancelled")
        try await drain.value
        #expect(log.entries == ["lease ended", "closed"])
    }

    @Test func `a lease that an instance holds is not waited for`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
                .onDispose { [log] _ in log.append("pool") }
            Registration(String.self, lifetime: .singleton) { r in
                "\(try await r.lease(Thing.self, arguments: 1).number)"
            }
            .onDispose { [log] _ in log.append("user") }
        }
        _ = try await container.resolve(String.self)
        try await container.drain()
        #expect(log.entries == ["user", "pool"])
    }

    @Test func `at the deadline the container is disposed under the bodies that still run`() async throws {
        let clock = ManualClock()
        let container = Container(clock: clock) {
            Registration(Set<Int>.self, lifetime: .scoped) { _ in [] }
                .onDispose { [log] _, reason in log.append(reason.error == nil ? "committed" : "rolled back") }
        }
        let mayEnd = Gate()
        let request = Task {
            try await container.withScope { scope in
                _ = try await scope.resolve(Set<Int>.self)
                await mayEnd.pass()
            }
        }
        await mayEnd.arrived()
        let drain = Task { try await container.drain(deadline: .seconds(5)) }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(5))
        try await drain.value
        #expect(log.entries == ["rolled back"])
        mayEnd.open()
        await expect(.disposed) { try await request.value }
    }

    @Test func `a container without work is drained at once, also twice, and before or after a disposal`() async throws
    {
        let container = container()
        _ = try await container.resolve(Int.self)
        async let first: Void = container.drain()
        async let second: Void = container.drain(deadline: .seconds(3600))
        _ = try await (first, second)
        try await container.drain()
        try await container.dispose()
    }

    @Test func `child containers refuse new work too, and their bodies are waited for`() async throws {
        let container = container()
        let child = Container(parent: container)
        let mayEnd = Gate()
        let request = Task {
            try await child.withScope { scope in
                await mayEnd.pass()
                let late = try await scope.resolve(String.self)
                #expect(late == "late")
            }
        }
        await mayEnd.arrived()
        let drain = Task { try await container.drain() }
        await drains(child)
        await expect(.disposed) { try await child.withScope { _ in } }
        await expect(.disposed) { _ = try await child.resolve(String.self) }
        mayEnd.open()
        try await request.value
        try await drain.value
    }

    /// A drain that waits for a body, and what happens meanwhile.
    private func duringADrain(
        of container: Container, bodyIn place: Container? = nil, _ operation: () async throws -> Void,
        inBody: @escaping @Sendable (Container) async throws -> Void = { _ in }
    ) async throws {
        let (mayWork, hasWorked, mayEnd) = (Gate(), Gate(), Gate())
        let request = Task {
            try await (place ?? container).withScope { scope in
                await mayWork.pass()
                do {
                    defer { hasWorked.open() }
                    try await inBody(scope)
                }
                await mayEnd.pass()
            }
        }
        await mayWork.arrived()
        let drain = Task { try await container.drain() }
        await drains(place ?? container)
        // First, because what the body creates is answered.
        try await operation()
        mayWork.open()
        await hasWorked.pass()
        mayEnd.open()
        try await request.value
        try await drain.value
    }

    @Test func `code in the draining container itself begins no work`() async throws {
        try await withContainer {
            Registration(String.self, lifetime: .singleton) { _ in "late" }
        } operation: { container in
            try await drainFromInside(container)
        }
        let other = container()
        _ = try await other.resolve(Int.self)
        try await Injection.with(other) { try await drainFromInside(other) }
    }

    private func drainFromInside(_ container: Container) async throws {
        try await duringADrain(of: container) {
            await expect(.disposed) { try await container.withScope { _ in } }
            let error = await expect(.disposed) { _ = try await container.resolve(String.self) }
            #expect(error?.message.contains("is draining") == true)
        }
    }

    @Test func `scopes that were opened by hand begin no work either, and their bodies end undisturbed`() async throws {
        let container = container()
        let session = try await container.openScope("session")
        _ = try await session.resolve(Int.self)
        try await duringADrain(of: container, bodyIn: session) {
            await expect(.disposed) { try await session.withScope { _ in } }
            await expect(.disposed) { _ = try await session.resolve(String.self) }
            await expect(.disposed) { _ = try await session.resolve(Set<Int>.self) }
            await expect(.disposed) { try await session.withInstance(Thing.self, arguments: 1) { _ in } }
            let cached = try await session.resolve(Int.self)
            #expect(cached == 7)
            await Injection.with(session) {
                _ = await expect(.disposed) { try await container.withScope { _ in } }
            }
        } inBody: { scope in
            let late = (try await container.resolve(String.self), try await session.resolve(Set<Int>.self))
            #expect(late == ("late", []))
            // Also without the task-local, and in a scope that is opened now.
            try await Task.detached { _ = try await scope.resolve(Set<Int>.self) }.value
            let inner = try await session.openScope()
            _ = try await inner.resolve(Set<Int>.self)
            await Task.detached { _ = await expect(.disposed) { _ = try await inner.resolve(Character.self) } }.value
        }
    }

    @Test func `a body goes on in containers beside it, and after a scope inside it has ended`() async throws {
        let container = container()
        let sibling = Container(parent: container) { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let late = Log<Container>()
        try await duringADrain(of: container) {
            late.append(Container(parent: container))
            await expect(.disposed) { _ = try await late.entries[0].resolve(Double.self) }
        } inBody: { scope in
            _ = try await sibling.resolve(Thing.self)
            let mayGo = Gate()
            let task = try await scope.withScope { _ in
                Task {
                    await mayGo.pass()
                    try await container.withScope { _ = try await $0.resolve(String.self) }
                }
            }
            mayGo.open()
            try await task.value
        }
    }

    @Test func `a body goes on inside the bodies of another container's scopes`() async throws {
        let container = container()
        try await duringADrain(of: container) {
        } inBody: { _ in
            try await Container().withScope { scope in
                _ = try await container.resolve(String.self)
                try await scope.withScope { _ in
                    _ = try await container.resolve(Double.self)
                    await expect(.invalidOperation) { try await container.drain() }
                }
            }
        }
    }

    @Test func `a body goes on where it has made another container the current one`() async throws {
        let container = container()
        let session = try await container.openScope("session")
        let screen = try OwnedScope(in: container)
        try await duringADrain(of: container) {
        } inBody: { _ in
            try await Injection.with(session) { _ = try await session.resolve(Set<Int>.self) }
            try await Injection.with(container) { _ = try await container.resolve(String.self) }
            try await screen.run { current in
                _ = try await current.resolve(Set<Int>.self)
                try await Injection.with(Container()) {
                    _ = try await container.resolve(Double.self)
                    await expect(.invalidOperation) { try await container.drain() }
                }
            }
        }
    }

    @Test func `of two drains, one inside the other, each waits for its own bodies`() async throws {
        let container = container()
        let connection = try OwnedScope(in: container, isDrained: true)
        let tenant = Container(parent: container)
        let mayEnd = Gate()
        let work = Task {
            try await connection.run { current in
                try await current.withScope { scope in
                    await mayEnd.pass()
                    _ = try await scope.resolve(Set<Int>.self)
                }
            }
        }
        let request = Task {
            try await container.withScope { scope in
                await mayEnd.pass()
                _ = try await scope.resolve(Set<Int>.self)
                // Its own drain does not wait for bodies beside it.
                await expect(.disposed) { try await tenant.withScope { _ in } }
            }
        }
        await mayEnd.arrived(2)
        let inner = Task { try await connection.container.drain() }
        await drains(connection.container)
        let beside = Task { try await tenant.drain() }
        await drains(tenant)
        try? await beside.value
        let outer = Task { try await container.drain() }
        await drains(container)
        await expect(.disposed) { try await connection.container.withScope { _ in } }
        mayEnd.open()
        try await request.value
        _ = await work.result
        _ = await inner.result
        try await outer.value
    }

    @Test func `a body without a lease is no work that a drain waits for`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }.intoMany()
            Registration(Int.self, lifetime: .transient) { _ in 2 }.intoMany(key: "k")
        }
        try await container.withInstances(Int.self) { numbers in
            #expect(numbers == [1, 2])
            try await duringADrain(of: container) {
                await expect(.disposed) { try await container.withScope { _ in } }
            }
        }
    }

    @Test func `a body, a factory and a lease that drain a container that waits for them get an error`() async throws {
        let boxes = Log<Container>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Int.self, lifetime: .singleton) { _ in
                try await boxes.entries[0].drain()
                return 1
            }
        }
        boxes.append(container)
        await expect(.invalidOperation) { try await container.withScope { _ in try await container.drain() } }
        await expect(.invalidOperation) {
            try await container.withScope { scope in
                let inner = try await scope.openScope()
                try await Injection.with(inner) { try await container.drain() }
            }
        }
        await expect(.invalidOperation) { _ = try await container.resolve(Int.self) }
        await expect(.invalidOperation) {
            try await container.withInstance(Thing.self) { _ in try await container.drain() }
        }
        try await container.withScope { scope in try await Container().drain() }
        try await container.drain()
    }
}
