import Testing

@testable import AsyncDI

/// Creations that are over, or not, when the launching request looks.
@Suite(.timeLimit(.minutes(10))) struct AttendedCreationTests {
    @Test func `a place that closes under a factory which does not suspend gives its asker no instance`() async throws {
        let thing = Locked<Container?>(nil)
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                _ = thing.value?.core.withState { $0.flights.close() }
                return Thing()
            }
        }
        thing.value = container
        await expect(.disposed) { _ = try await container.resolve(Thing.self) }
        thing.value = nil
    }

    @Test func `a place that closes under a factory which suspends gives its asker no instance`() async throws {
        let box = Locked<Container?>(nil)
        let gate = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                _ = box.value?.core.withState { $0.flights.close() }
                await gate.pass()
                return Thing()
            }
        }
        box.value = container
        await expect(.disposed) { _ = try await container.resolve(Thing.self) }
        box.value = nil
        gate.open()
        try await container.dispose()
    }

    @Test func `a request that is cancelled by its own factory still gets an instance created at once`() async throws {
        let task = Locked<Task<Thing, any Error>?>(nil)
        let gate = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                task.value?.cancel()
                return Thing()
            }
        }
        task.value = Task {
            await gate.pass()
            return try await container.resolve(Thing.self)
        }
        gate.open()
        let made = try await task.value?.value
        #expect(try await container.resolve(Thing.self) === made)
        task.value = nil
    }

    @Test func `an asker that is cancelled by the factory it runs leaves it when it suspends`() async throws {
        let task = Locked<Task<Thing, any Error>?>(nil)
        let (start, gate) = (Gate(), Gate())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                task.value?.cancel()
                await gate.pass()
                try Task.checkCancellation()
                return Thing()
            }
        }
        task.value = Task {
            await start.pass()
            return try await container.resolve(Thing.self)
        }
        start.open()
        await #expect(throws: CancellationError.self) { _ = try await task.value?.value }
        gate.open()
        task.value = nil
        try await container.dispose()
    }

    @Test func `a scoped instance is published when it is asked for again`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        let scope = try await container.openScope()
        let key = ServiceKey(Thing.self)
        let thing = try await scope.resolve(Thing.self)
        #expect(scope.core.table.hit(key) == nil)
        #expect(try scope.ready(Thing.self) === thing, "it is there all the same")
        var isPublished: Bool
        var count: UInt
        repeat {
            count = RegistrationCounter.now
            #expect(try await scope.resolve(Thing.self) === thing)
            isPublished = scope.core.table.hit(key) != nil
            // A test beside this one may have registered something: the next request looks again.
        } while !isPublished && count != RegistrationCounter.now
        #expect(isPublished)
        #expect(try await scope.resolve(Thing.self) === thing)
        try await scope.dispose()
    }

    @Test func `the handle of a withScope is found as long as a reference holds it`() async throws {
        let container = Container { Registration(Keeper.self, lifetime: .scoped) { Keeper($0) } }
        let (keeper, kept) = try await container.withScope { scope in
            let keeper = try await scope.resolve(Keeper.self)
            #expect(keeper.resolver.container === scope)
            return (keeper, scope)
        }
        #expect(keeper.resolver.container === kept)
        let dropped = try await container.withScope { try await $0.resolve(Keeper.self) }
        #expect(dropped.resolver.container == nil)
    }
}
