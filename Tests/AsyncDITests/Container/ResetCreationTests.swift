import Testing

@testable import AsyncDI

private final class File: Sendable {}
private struct Reader: Sendable {}

/// Creations that are reset before they have ended, and what comes after them.
@Suite(.timeLimit(.minutes(10))) struct ResetCreationTests {
    private let log = Log<String>()
    private let opened = Gate()

    /// The first file waits until the gate is open.
    private func container() -> Container {
        let runs = Counter()
        return Container { [log, opened] in
            Registration(File.self, lifetime: .multiton) { (_, _: Int) in
                let run = runs.increment()
                log.append("open \(run)")
                if run == 1 { await opened.pass() }
                return File()
            }
            .onDispose { _ in log.append("close") }
        }
    }

    @Test func `the next file of a key is opened when the one that was reset while it opened is closed`() async throws {
        let container = container()
        let held = Gate()
        let first = Task { try await container.withInstance(File.self, arguments: 1) { _ in await held.pass() } }
        await opened.arrived()
        try await container.reset(File.self, arguments: 1)
        let second = Task { try await container.resolve(File.self, arguments: 1) }
        while container.activity().creations.flatMap(\.waits).isEmpty { await Task.yield() }
        #expect(log.entries == ["open 1"])
        _ = try await container.resolve(File.self, arguments: 2)
        opened.open()
        await held.arrived()
        while container.activity().disposals.isEmpty { await Task.yield() }
        #expect(log.entries == ["open 1", "open 2"])
        held.open()
        try await first.value
        _ = try await second.value
        #expect(log.entries == ["open 1", "open 2", "close", "open 3"])
    }

    @Test func `several resets leave one creation after the first`() async throws {
        let container = container()
        let first = Task { try await container.withInstance(File.self, arguments: 1) { _ in } }
        await opened.arrived()
        var others: [Task<File, any Error>] = []
        for count in 1...3 {
            try await container.reset(File.self)
            others.append(Task { try await container.resolve(File.self, arguments: 1) })
            while container.activity().creations.count < count + 1 { await Task.yield() }
        }
        opened.open()
        try await first.value
        let files = try await [others[0].value, others[1].value, others[2].value]
        #expect(files.allSatisfy { $0 === files[0] })
        #expect(log.entries == ["open 1", "close", "open 2"])
    }

    @Test func `a drain of a key waits for its creation under way, and for the lease of what that created`()
        async throws
    {
        let container = container()
        let held = Gate()
        let first = Task { try await container.withInstance(File.self, arguments: 1) { _ in await held.pass() } }
        await opened.arrived()
        let drain = Task {
            try await container.drain(File.self, arguments: 1)
            log.append("drained")
        }
        while container.activity().creations.first?.waiters != 1 || !container.core.hasReset(File.self) {
            await Task.yield()
        }
        opened.open()
        await held.arrived()
        #expect(log.entries == ["open 1"])
        held.open()
        try await first.value
        try await drain.value
        #expect(log.entries == ["open 1", "close", "drained"])
    }

    @Test func `the deadline of a drain holds for a creation that does not end`() async throws {
        let clock = ManualClock()
        let factory = DrivenFactory<File>()
        let container = Container(clock: clock) {
            Registration(File.self, lifetime: .multiton) { (_, _: Int) in try await factory.run() }
        }
        let request = Task { try await container.resolve(File.self, arguments: 1) }
        await factory.began()
        let drain = Task { try await container.drain(File.self, arguments: 1, deadline: .seconds(5)) }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: DisposalError.self) { try await drain.value }
        #expect(error?.errors.count == 1)
        factory.answer(File())
        _ = try await request.value
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .scoped, .weak, Lifetime("session")])
    func `a factory that resets its own service and requests it again is a cycle`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(File.self, lifetime: lifetime) { (resolver, _: Int) in
                // A request for its own service through another one, too.
                try await resolver.resolve(Container.self).reset(File.self)
                _ = try await resolver.resolve(Reader.self)
                return File()
            }
            Registration(Reader.self, lifetime: .transient) { resolver in
                _ = try await resolver.resolve(File.self, arguments: 1)
                return Reader()
            }
        }
        try await container.register(Container.self, instance: container)
        let error = await #expect(throws: ResolutionError.self) {
            try await finishes { try await container.resolve(File.self, arguments: 1) }
        }
        #expect(error?.code == .circularDependency)
        await container.unregister(Container.self)
        try await container.dispose()
    }

    @Test func `a factory that was reset and waits for what needs its service again gets an error, and does not hang`()
        async throws
    {
        let reset = Gate()
        let container = Container { [opened] in
            Registration(File.self, lifetime: .multiton) { (resolver, _: Int) in
                opened.arrive()
                await reset.pass()
                _ = try await resolver.resolve(Reader.self)
                return File()
            }
            Registration(Reader.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(File.self, arguments: 1)
                return Reader()
            }
        }
        let request = Task { try await container.resolve(File.self, arguments: 1) }
        await opened.arrived()
        try await container.reset(File.self)
        reset.open()
        let error = await #expect(throws: ResolutionError.self) { try await finishes { try await request.value } }
        #expect(error?.code == .circularDependency)
        #expect(container.activity().isEmpty)
    }
}

extension ContainerCore {
    /// Whether a creation of the service was reset before it ended.
    fileprivate func hasReset(_ service: any Any.Type) -> Bool {
        withState { state in
            state.flights.entries.values.contains { $0.isInvalidated && $0.key.binding.key.service == service }
        }
    }
}
