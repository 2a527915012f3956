import Testing

@testable import AsyncDI

/// Drains that would wait for a body which waits for them.
@Suite(.timeLimit(.minutes(10))) struct DrainCycleTests {
    private let drained = Container(name: "drained")

    /// A container whose service drains another one.
    private func drainer(_ name: String = "drainer", of container: Container) -> Container {
        Container(name: name) {
            Registration(Thing.self, lifetime: .singleton) { _ in
                try await container.drain()
                return Thing()
            }
        }
    }

    @Test func `a body that needs a service whose factory drains the body's container gets an error`() async throws {
        let drainer = drainer(of: drained)
        try await finishes {
            try await drained.withScope { _ in
                let error = await expect(.invalidOperation) { try await drainer.resolve(Thing.self) }
                #expect(
                    error?.description.contains(
                        "the factory of Thing drains container \"drained\", which waits for work in progress there")
                        == true)
            }
        }
        _ = try await drainer.resolve(Thing.self)
        await expect(.disposed) { try await drained.withScope { _ in } }
    }

    @Test func `a body that needs a service whose factory drains the body's own scope gets an error`() async throws {
        try await finishes {
            try await drained.withScope {
                Registration(String.self, lifetime: .scoped) { _ in "" }
            } operation: { scope in
                await expect(.invalidOperation) { try await self.drainer(of: scope).resolve(Thing.self) }
                _ = try await scope.resolve(String.self)
            }
        }
        try await drained.dispose()
    }

    @Test func `a body deep below a drained container, too, and one around the body of another container`()
        async throws
    {
        let drainer = drainer(of: drained)
        let middle = Container(name: "middle", parent: drained)
        let other = Container(name: "other")
        try await finishes {
            try await middle.withScope { scope in
                try await scope.withScope { _ in
                    try await other.withScope { _ in
                        _ = await expect(.invalidOperation) { try await drainer.resolve(Thing.self) }
                    }
                }
            }
        }
    }

    @Test func `a drain that waits already makes the later request of the body fail`() async throws {
        let drainer = drainer(of: drained)
        let mayAsk = Gate()
        let body = Task {
            try await drained.withScope { _ in
                await mayAsk.pass()
                let error = await expect(.circularDependency, path: ["Thing"]) { try await drainer.resolve(Thing.self) }
                #expect(error?.description.contains("requested in a body of withScope or withInstance") == true)
            }
        }
        await mayAsk.arrived()
        let thing = Task { try await drainer.resolve(Thing.self) }
        while !drained.core.table.isDraining { await Task.yield() }
        mayAsk.open()
        try await finishes {
            try await body.value
            _ = try await thing.value
        }
    }

    @Test func `of two bodies that drain each other's container, one gets an error`() async throws {
        let others = Container(name: "others")
        let (first, second) = (Gate(), Gate())
        let refused = Counter()
        @Sendable func body(in container: Container, draining other: Container, _ mine: Gate, _ its: Gate) async throws
        {
            try await container.withScope { _ in
                mine.open()
                await its.pass()
                do { try await other.drain() } catch let error as ResolutionError {
                    #expect(error.code == .invalidOperation)
                    refused.increment()
                }
            }
        }
        try await finishes {
            async let one: Void = body(in: drained, draining: others, first, second)
            async let two: Void = body(in: others, draining: drained, second, first)
            _ = try await (one, two)
        }
        #expect(refused.value == 1)
    }

    @Test func `a hook of a reset that drains the container of the body which resets gets an error`() async throws {
        let application = Container(name: "application")
        let child = Container(name: "child", parent: application)
        let refused = Counter()
        try await application.register(
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in
                do { try await child.drain() } catch ResolutionError.Code.invalidOperation { refused.increment() }
            })
        _ = try await application.resolve(Thing.self)
        try await finishes { try await child.withScope { _ in try await application.reset(Thing.self) } }
        #expect(refused.value == 1)
        try await child.dispose()
        try await application.dispose()
    }

    @Test func `the work of an owned scope that a drain waits for gets an error, too`() async throws {
        let scope = try OwnedScope(in: drained, isDrained: true)
        let drainer = drainer(of: drained)
        try await finishes {
            try await scope.run { _ in
                _ = await expect(.invalidOperation) { try await drainer.resolve(Thing.self) }
            }
        }
        let screen = try OwnedScope(in: drained)
        try await finishes {
            try await screen.run { _ in _ = try await self.drainer(of: Container()).resolve(Thing.self) }
            try await scope.end()
            // A drain does not wait for the scope of a screen, but ends it.
            _ = await expect(.disposed) { try await screen.run { _ in _ = try await drainer.resolve(Thing.self) } }
        }
    }

    @Test func `the work of an owned scope may dispose the container while another task drains it`() async throws {
        let scope = try OwnedScope(in: drained, isDrained: true)
        let mayDispose = Gate()
        let work = Task {
            try await scope.run { _ in
                await mayDispose.pass()
                try await self.drained.dispose()
            }
        }
        await mayDispose.arrived()
        let drain = Task { try await drained.drain() }
        while !drained.core.table.isDraining { await Task.yield() }
        mayDispose.open()
        try await finishes {
            await expect(.disposed) { try await work.value }
            try await drain.value
        }
    }

    /// A disposal cuts bodies short, and waits for none of them.
    @Test(arguments: ["in a lease", "in another scope", "in work", "in a factory", "above"])
    func `a body may dispose the container while another task drains it`(place: String) async throws {
        let root = Container(name: "root")
        let drained = Container(name: "drained", parent: root)
        let other = Container(name: "other") {
            Registration(String.self, lifetime: .multiton) { (_, text: String) in text }
            Registration(Thing.self, lifetime: .singleton) { _ in
                try await drained.dispose()
                return Thing()
            }
        }
        let work = try OwnedScope(in: drained, isDrained: true)
        let mayDispose = Gate()
        @Sendable func dispose() async throws {
            await mayDispose.pass()
            switch place {
            case "in a lease":
                try await other.withInstance(String.self, arguments: "a") { _ in try await drained.dispose() }
            case "in another scope": try await other.withScope { _ in try await drained.dispose() }
            case "in a factory": _ = try await other.resolve(Thing.self)
            case "above": try await root.dispose()
            default: try await work.container.withScope { _ in try await drained.dispose() }
            }
        }
        let body = Task {
            if place == "in work" {
                try await work.run { _ in try await dispose() }
            } else {
                try await drained.withScope { _ in try await dispose() }
            }
        }
        await mayDispose.arrived()
        let drain = Task { try await drained.drain() }
        while !drained.core.table.isDraining { await Task.yield() }
        mayDispose.open()
        try await finishes {
            // The disposal may have refused the body's end, but neither the disposal nor the drain.
            do { try await body.value } catch ResolutionError.Code.disposed {}
            try await drain.value
        }
        await expect(.disposed) { try await drained.withScope { _ in } }
    }

    @Test func `a drain of a key whose former and inherited instance its body leases is refused once`() async throws {
        @RegistrationBuilder func things() -> Registrations {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
        }
        let root = Container { things() }
        let child = Container(parent: root) { things() }
        try await child.withInstance(Thing.self, arguments: 1) { former in
            await child.unregister(Thing.self)
            try await child.withInstance(Thing.self, arguments: 1) { inherited in
                #expect(former !== inherited)
                await expect(.invalidOperation) { try await child.drain(Thing.self, arguments: 1) }
            }
        }
        try await child.drain(Thing.self, arguments: 1)
        try await root.dispose()
    }

    @Test func `a drain with a deadline waits for such a body, and cuts it short`() async throws {
        let clock = ManualClock()
        let drained = Container(name: "drained", clock: clock)
        let drainer = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                try await drained.drain(deadline: .seconds(1))
                return Thing()
            }
        }
        let body = Task { try await drained.withScope { _ in _ = try await drainer.resolve(Thing.self) } }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        try await finishes { _ = try? await body.value }
        await expect(.disposed) { try await drained.withScope { _ in } }
    }

    @Test func `a body that goes on during a drain in a factory it does not need is undisturbed`() async throws {
        let drainer = drainer(of: drained)
        let mayAsk = Gate()
        let body = Task {
            try await drained.withScope {
                Registration(String.self, lifetime: .scoped) { _ in "made" }
            } operation: { scope in
                await mayAsk.pass()
                return try await scope.resolve(String.self)
            }
        }
        await mayAsk.arrived()
        let thing = Task { try await drainer.resolve(Thing.self) }
        while !drained.core.table.isDraining { await Task.yield() }
        mayAsk.open()
        try await finishes {
            #expect(try await body.value == "made")
            _ = try await thing.value
        }
        #expect(Waits.all().isEmpty || !Waits.all().contains { $0.to === drained.core.disposalUnderWay })
    }
}
