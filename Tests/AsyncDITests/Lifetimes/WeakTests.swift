import Testing

@testable import AsyncDI

/// A value of which two may differ although they were created in the same way.
private struct Value: Sendable, Equatable { let number: Int }

/// Instances that are shared as long as a reference exists.
@Suite(.timeLimit(.minutes(10))) struct WeakTests {
    /// Waits for the last reference to an object to go: a task that has just passed it on may hold it a moment longer.
    private func isGone(_ reference: WeakReference<Thing>) async {
        while reference.instance != nil { await Task.yield() }
    }

    @Test func `a weak object is shared while a caller retains it, and created again after that`() async throws {
        let runs = Counter()
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing(runs.increment()) } }
        var held: Thing? = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === held)
        let reference = WeakReference(held!)
        held = nil
        await isGone(reference)
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `a weak object with arguments is dropped for itself`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { (_, number: Int) in Thing(number) } }
        let one = try await container.resolve(Thing.self, arguments: 1)
        var two: Thing? = try await container.resolve(Thing.self, arguments: 2)
        let reference = WeakReference(two!)
        two = nil
        await isGone(reference)
        #expect(try await container.resolve(Thing.self, arguments: 1) === one)
        #expect(try await container.resolve(Thing.self, arguments: 2).number == 2)
    }

    @Test func `a weak object behind a protocol is shared, and dropped when no caller retains it`() async throws {
        let runs = Counter()
        let container = Container {
            Registration((any NamedService).self, lifetime: .weak) { _ in NamedObject(name: "\(runs.increment())") }
        }
        var held: (any NamedService)? = try await container.resolve((any NamedService).self)
        #expect(try await container.resolve((any NamedService).self).name == "1")
        let reference = WeakReference(held as! NamedObject)
        held = nil
        while reference.instance != nil { await Task.yield() }
        #expect(try await container.resolve((any NamedService).self).name == "2")
    }

    @Test func `a weak value is never shared`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: .weak) { _ in runs.increment() }
            Registration(String.self, lifetime: .weak) { _ in "a string too long to be a small one \(runs.increment())"
            }
            Registration(Value.self, lifetime: .weak) { _ in Value(number: runs.increment()) }
            Registration([Int].self, lifetime: .weak) { _ in [runs.increment()] }
            Registration((any NamedService).self, lifetime: .weak) { _ in NamedValue(name: "\(runs.increment())") }
        }
        for _ in 0..<2 {
            let held = (
                try await container.resolve(Int.self), try await container.resolve(String.self),
                try await container.resolve(Value.self), try await container.resolve([Int].self),
                try await container.resolve((any NamedService).self)
            )
            withExtendedLifetime(held) {}
        }
        #expect(runs.value == 10)
    }

    @Test func `all waiters for one creation of a weak value get it`() async throws {
        let factory = DrivenFactory<Value>()
        let container = Container { Registration(Value.self, lifetime: .weak) { _ in try await factory.run() } }
        let askers = (0..<3).map { _ in Task { try await container.resolve(Value.self) } }
        await container.core.waiters(of: Value.self, reach: 3)
        factory.answer(Value(number: 1))
        for asker in askers { #expect(try await asker.value == Value(number: 1)) }
    }

    @Test func `a request for an optional gets the weak object that a caller retains`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing() } }
        let held = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing?.self) === held)
        #expect(try await container.optional(Thing.self) === held)
    }

    @Test func `a container does not hold the weak objects that it has made`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .weak) { (_, number: Int) in Thing(number) } }
        var references: [WeakReference<Thing>] = []
        for number in 0..<200 {
            references.append(WeakReference(try await container.resolve(Thing.self, arguments: number)))
        }
        for reference in references { await isGone(reference) }
    }

    @Test func `a weak object lives as long as a service that was given it`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .weak) { _ in Thing() }
            Registration([Thing].self, lifetime: .graph) { r in try await [r.resolve()] }
        }
        var held: [Thing]? = try await container.resolve([Thing].self)
        let reference = WeakReference(held![0])
        #expect(try await container.resolve(Thing.self) === held![0])
        held = nil
        await isGone(reference)
    }
}
