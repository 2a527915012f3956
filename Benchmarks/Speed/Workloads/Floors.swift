import Synchronization

/// The unavoidable cost of any container, on top of a baseline: the least that a row could take.
func registerFloors() {
    compare("floor-hit", operations: 20_000) {
        let (cells, readers) = (snapshot(), Readers())
        return .each {
            for _ in 0..<$0 {
                guard Run.current == nil, Run.outer == nil else { throw Missing() }
                readers.enter()
                consume(try await cells.resolve((any Service).self))
                readers.exit()
            }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("floor-transient", operations: 5_000) {
        let factories = Factories()
        factories.register((any Service).self) { _ in SomeService() }
        let binding = BindingFactories()
        binding.register((any Service).self) { _ in SomeService() }
        return .each {
            for _ in 0..<$0 { consume(try await binding.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await factories.resolve((any Service).self)) }
        }
    }
    compare("floor-transient-main", operations: 5_000) {
        let factories = Factories()
        factories.register((any Service).self) { _ in SomeService() }
        let binding = BindingFactories()
        binding.register((any Service).self) { _ in SomeService() }
        @MainActor func floor(_ operations: Int) async throws {
            for _ in 0..<operations { consume(try await binding.resolve((any Service).self)) }
        }
        @MainActor func baseline(_ operations: Int) async throws {
            for _ in 0..<operations { consume(try await factories.resolve((any Service).self)) }
        }
        return .each {
            try await floor($0)
        } baseline: {
            try await baseline($0)
        }
    }
    compare("floor-creation", operations: 1_000) {
        Comparison { operations in
            let places = (0..<max(1, operations / 100)).map { _ in
                let factories = SharedFactories()
                for type in hundredTypes { register(type, in: factories) }
                return factories
            }
            let each = min(100, operations)
            return try await time {
                for factories in places {
                    for type in hundredTypes.prefix(each) { try await create(type, in: factories) }
                }
            }
        } baseline: {
            try await timeTasks($0)
        }
    }
    compare("floor-scope", operations: 500) {
        let factories = SharedFactories()
        factories.register((any Service).self) { _ in SomeService() }
        return .each {
            for _ in 0..<$0 { try await useScope(of: factories) }
        } baseline: {
            await startTasks($0)
        }
    }
    for count in [10_000, 100_000] {
        compare("floor-register-\(count)", operations: count, rounds: 2_000_000 / count) {
            Comparison { operations in
                let registrations = Registrations()
                return try await time {
                    registrations.reserve(operations)
                    for index in 0..<operations {
                        registrations.register(Slot(index: index)) { _ in SomeService() }
                    }
                }
            } baseline: {
                try await timeTasks($0)
            }
        }
    }
    compare("floor-register-later", operations: 10_000, rounds: 50) {
        Comparison { operations in
            let registrations = SharedRegistrations()
            return try await time {
                for index in 0..<operations {
                    await registrations.register(Slot(index: index)) { _ in SomeService() }
                }
            }
        } baseline: {
            try await timeTasks($0)
        }
    }
    compare("floor-waiters", operations: 10_000, rounds: 50) {
        Comparison { waiters in
            let gate = Gate(for: waiters)
            return try await time {
                let promise = Promise()
                let shared = Task {
                    await gate.wait()
                    promise.keep(SomeService())
                }
                try await concurrently(waiters) {
                    consume(try await promise.value(keptBy: shared) { gate.arrive() })
                }
            }
        } baseline: {
            try await waitForTask($0)
        }
    }
}

private func register<Value: Numbered>(_ type: Value.Type, in factories: SharedFactories) {
    factories.register(type) { _ in Value() }
}

private nonisolated(nonsending) func create<Value: Numbered>(
    _ type: Value.Type, in factories: SharedFactories
) async throws {
    keep(try await factories.resolve(type))
}

/// One request's scope: a place of its own that its parent knows, found by a task-local, with an actor for the body and
/// an end.
private func useScope(of factories: SharedFactories, isolation: isolated (any Actor)? = #isolation) async throws {
    let scope = factories.openScope()
    defer { scope.close() }
    let handle = Handle(scope)
    try await SharedFactories.$current.withValue(scope) {
        _ = isolation
        consume(try await handle.place.resolve((any Service).self))
    }
}

private actor Handle {
    nonisolated let place: SharedFactories

    init(_ place: SharedFactories) { self.place = place }
}

/// Registrations of three objects each, as a container has them, in a dictionary.
private final class Registrations {
    typealias Make = nonisolated(nonsending) @Sendable (Registrations) async throws -> any Service

    final class Details {
        let qualifier: Slot
        let hash: Int
        init(_ qualifier: Slot) {
            self.qualifier = qualifier
            hash = qualifier.hashValue
        }
    }

    struct Key: Hashable {
        let service: ObjectIdentifier
        let details: Details

        static func == (first: Key, second: Key) -> Bool {
            first.service == second.service && first.details.qualifier == second.details.qualifier
        }
        func hash(into hasher: inout Hasher) {
            hasher.combine(service)
            hasher.combine(details.hash)
        }
    }

    final class Factory {
        let make: Make
        init(_ make: @escaping Make) { self.make = make }
    }

    final class Recipe {
        let key: Key
        let factory: Factory
        let line: UInt
        var cell: Cell?
        init(_ key: Key, _ factory: Factory, _ line: UInt) {
            self.key = key
            self.factory = factory
            self.line = line
        }
    }

    private var recipes: [Key: Recipe] = [:]

    func reserve(_ count: Int) { recipes.reserveCapacity(count) }

    func register(_ qualifier: Slot, line: UInt = #line, _ make: @escaping Make) {
        let key = Key(service: ObjectIdentifier((any Service).self), details: Details(qualifier))
        recipes[key] = Recipe(key, Factory(make), line)
    }
}

/// The same, for many tasks.
private actor SharedRegistrations {
    private let registrations = Registrations()

    func register(_ qualifier: Slot, _ make: @escaping Registrations.Make) { registrations.register(qualifier, make) }
}

/// A value to come, for tasks that can be cancelled while they wait, and whose priority reaches the task that makes it.
///
/// `@unchecked Sendable` because its variables are touched only while the mutex is held.
private final class Promise: @unchecked Sendable {
    private let mutex = Mutex()
    private var value: (any Service)?
    private var waiters: [Waiter] = []

    func keep(_ value: any Service) {
        let waiters = mutex.withLock {
            self.value = value
            defer { self.waiters = [] }
            return self.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    nonisolated(nonsending) func value(keptBy task: Task<Void, Never>, _ arrived: () -> Void) async throws
        -> any Service
    {
        let waiter = Waiter()
        mutex.withLock { waiters.append(waiter) }
        arrived()
        await withTaskCancellationHandler {
            guard #available(macOS 26, *) else { return await waiter.wait() }
            await withTaskPriorityEscalationHandler {
                await waiter.wait()
            } onPriorityEscalated: { _, priority in
                task.escalatePriority(to: priority)
            }
        } onCancel: {
            waiter.resume()
        }
        guard let value = mutex.withLock({ value }) else { throw CancellationError() }
        return value
    }
}

/// One suspended task, resumed once.
private final class Waiter: Sendable {
    /// Zero, one once it was resumed, or the bits of the continuation.
    private let state = Atomic<UInt>(0)

    func resume() {
        let bits = state.exchange(1, ordering: .acquiringAndReleasing)
        if bits > 1 { unsafeBitCast(bits, to: UnsafeContinuation<Void, Never>.self).resume() }
    }

    nonisolated(nonsending) func wait() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let bits = unsafeBitCast(continuation, to: UInt.self)
            if !state.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing).exchanged {
                continuation.resume()
            }
        }
    }
}

/// Counts readers, so that a table can be freed after the last one.
private final class Readers: Sendable {
    private let count = Atomic(0)

    func enter() { _ = count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func exit() { _ = count.wrappingSubtract(1, ordering: .releasing) }
}

/// The owner of a factory's requests.
private final class Run: Sendable {
    @TaskLocal static var current: Run?
    @TaskLocal static var outer: Run?
}
