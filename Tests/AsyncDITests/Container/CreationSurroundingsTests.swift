import Testing

@testable import AsyncDI

/// The properties that a creation has from its requests' tasks: task-locals, executor and priority.
@Suite(.timeLimit(.minutes(10))) struct CreationSurroundingsTests {
    @TaskLocal static var request: String?

    @Test(arguments: [Lifetime.singleton, .multiton, .weak])
    func `a creation in the owner sees no task-local of its asker`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Log<String?>.self, lifetime: lifetime) { _ in
                let log = Log<String?>()
                log.append(Self.request)
                return log
            }
        }
        let log = try await Self.$request.withValue("42") { try await container.resolve(Log<String?>.self) }
        #expect(log.entries == [nil])
    }

    @Test(arguments: [Lifetime.scoped, .graph, .transient])
    func `a scoped, graph or transient creation sees its asker's task-locals`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Log<String?>.self, lifetime: lifetime) { _ in
                let log = Log<String?>()
                log.append(Self.request)
                return log
            }
        }
        let log = try await Self.$request.withValue("42") { try await container.resolve(Log<String?>.self) }
        #expect(log.entries == ["42"])
    }

    @Test(arguments: [Lifetime.singleton, .scoped])
    func `the task of a creation is named after its key`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(String.self, qualifier: "main", lifetime: lifetime) { _ in Task.name ?? "" }
        }
        #expect(try await container.resolve(String.self, qualifier: "main") == "creating String[main]")
    }

    @Test @MainActor func `transient and graph factories run on the caller's executor, shared ones do not`()
        async throws
    {
        let container = Container {
            Registration(Int.self, lifetime: .transient) { _ in await isOnMainActor() ? 1 : 0 }
            Registration(Double.self, lifetime: .graph) { _ in await isOnMainActor() ? 1 : 0 }
            Registration(String.self, lifetime: .singleton) { _ in await isOnMainActor() ? "main" : "elsewhere" }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Double.self) == 1)
        #expect(try await container.resolve(String.self) == "elsewhere")
    }

    @Test(arguments: Lifetime.shared) @MainActor
    func `the factory of a shared instance does not occupy the actor of its request`(lifetime: Lifetime) async throws {
        #expect(occupiesMainActor)
        let occupied = Log<Bool>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in
                occupied.append(occupiesMainActor)
                return Thing()
            }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in
                occupied.append(occupiesMainActor)
                return Thing(number)
            }
            Registration(Int.self, lifetime: .transient) { r in try await r.resolve(Thing.self, arguments: 2).number }
        }
        let thing = try await container.resolve(Thing.self)
        let another = try await container.resolve(Thing.self, arguments: 1)
        #expect(try await container.resolve(Int.self) == 2)
        #expect(occupied.entries == [false, false, false])
        withExtendedLifetime((thing, another)) {}
    }

    @Test @MainActor func `the hooks of a scope do not occupy the actor of its body`() async throws {
        #expect(occupiesMainActor)
        let occupied = Log<Bool>()
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
                .onDispose { _ in occupied.append(occupiesMainActor) }
        }
        try await container.withScope { scope in _ = try await scope.resolve(Thing.self) }
        #expect(occupied.entries == [false])
    }

    @Test func `a waiter's higher priority reaches the creation`() async throws {
        let factory = DrivenFactory<Void>()
        let priorities = Log<TaskPriority>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                priorities.append(Task.currentPriority)
                try await factory.run()
                priorities.append(Task.currentPriority)
                return Thing()
            }
        }
        let low = Task.detached(priority: .background) { try await container.resolve(Thing.self) }
        await factory.began()
        let high = Task.detached(priority: .high) { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 2)
        factory.answer(())
        _ = try await high.value
        _ = try await low.value
        #expect(priorities.entries.first == .background)
        #expect(priorities.entries.last == .high)
    }

    @Test func `a waiter whose priority is raised while it waits passes it on`() async throws {
        let factory = DrivenFactory<Void>()
        let container = Container {
            Registration(TaskPriority.self, lifetime: .singleton) { _ in
                try await factory.run()
                return Task.currentPriority
            }
        }
        let low = Task.detached(priority: .background) { try await container.resolve(TaskPriority.self) }
        await factory.began()
        await container.core.waiters(of: TaskPriority.self, reach: 1)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { low.escalatePriority(to: .high) }
        factory.answer(())
        #expect(try await low.value == .high)
    }

    /// A singleton whose factory blocks the thread of the first request, and then returns its own priority.
    private func standing(in thread: ThreadGate, _ begun: Gate) -> Container {
        Container {
            Registration(TaskPriority.self, lifetime: .singleton) { _ in
                begun.arrive()
                thread.wait()
                for _ in 0..<1_000_000 where Task.currentPriority < .high { await Task.yield() }
                return Task.currentPriority
            }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `an asker that is raised while the factory runs in its thread passes it on`() async throws {
        let (thread, begun) = (ThreadGate(), Gate())
        let container = standing(in: thread, begun)
        let low = Task.detached(priority: .background) {
            try await withTaskPriorityEscalationHandler {
                try await container.resolve(TaskPriority.self)
            } onPriorityEscalated: { _, _ in
                thread.open()
            }
        }
        await begun.arrived()
        low.escalatePriority(to: .high)
        #expect(try await low.value == .high)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a request that joins while the factory runs in the first one's thread raises it`() async throws {
        let (thread, begun) = (ThreadGate(), Gate())
        let container = standing(in: thread, begun)
        let low = Task.detached(priority: .background) { try await container.resolve(TaskPriority.self) }
        await begun.arrived()
        let high = Task.detached(priority: .high) { try await container.resolve(TaskPriority.self) }
        await container.core.waiters(of: TaskPriority.self, reach: 1)
        thread.open()
        #expect(try await high.value == .high)
        #expect(try await low.value == .high)
    }
}

/// Whether the calling code runs on the main actor's executor.
private nonisolated(nonsending) func isOnMainActor() async -> Bool {
    #isolation === MainActor.shared
}
