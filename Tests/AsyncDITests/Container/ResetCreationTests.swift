import Testing

@testable import AsyncDI

private final class File: Sendable {}
private struct Reader: Sendable {}
private struct NumberedFile: Sendable {
    let number: Int
}

/// Creations that are reset before they have ended.
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

    @Test func `a drain of a key waits for its creation under way, and for the lease of the new instance`()
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

    @Test func `a drain of a key disposes an instance that a request without a lease gets from a creation under way`()
        async throws
    {
        let container = container()
        let request = Task { try await container.resolve(File.self, arguments: 1) }
        await opened.arrived()
        let drain = Task {
            try await container.drain(File.self, arguments: 1)
            log.append("drained")
        }
        while !container.core.hasReset(File.self) { await Task.yield() }
        opened.open()
        _ = try await request.value
        try await drain.value
        #expect(log.entries == ["open 1", "close", "drained"])
        try await container.dispose()
        #expect(log.entries.count == 3)
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

    @Test func `a property cycle whose service is reset meanwhile goes on`() async throws {
        let factory = DrivenFactory<Reader>()
        let container = Container {
            Registration(File.self, lifetime: .singleton) { _ in File() }
                .injectProperties { resolver, _ in _ = try await resolver.resolve(Reader.self) }
            Registration(Reader.self, lifetime: .singleton) { resolver in
                let reader = try await factory.run()
                _ = try await resolver.resolve(File.self)
                return reader
            }
        }
        let request = Task { try await container.resolve(File.self) }
        await factory.began()
        try await container.reset(File.self)
        factory.answer(Reader())
        _ = try await finishes { try await request.value }
    }

    /// Only for instances that hold leases but have no hook: others hold off later instances.
    @Test func `an instance that ends late does not hide the disposal of a later one from the next creation`()
        async throws
    {
        try await finishes { [opened] in
            let runs = Counter()
            let container = Container {
                Registration(File.self, lifetime: .multiton) { (_, _: Int) in File() }
                Registration(NumberedFile.self, lifetime: .multiton) { (r, _: Int) in
                    _ = try await r.lease(File.self, arguments: 1)
                    let file = NumberedFile(number: runs.increment())
                    if file.number == 1 { await opened.pass() }
                    return file
                }
            }
            let first = Task { try await container.resolve(NumberedFile.self, arguments: 1) }
            await opened.arrived()
            try await container.reset(NumberedFile.self, arguments: 1)
            let third = try await container.withInstance(NumberedFile.self, arguments: 1) { second in
                #expect(second.number == 2)
                // It is disposed after its lease.
                try await container.reset(NumberedFile.self, arguments: 1)
                opened.open()
                #expect(try await first.value.number == 1)
                let third = Task.detached { try await container.resolve(NumberedFile.self, arguments: 1) }
                await until { container.core.waiterCount(of: NumberedFile.self) == 1 || runs.value == 3 }
                #expect(runs.value == 2)
                return third
            }
            #expect(try await third.value.number == 3)
            try await container.dispose()
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped])
    func `a creation that was reset, and fails, does not hide the disposal of a later instance`(
        _ lifetime: Lifetime
    ) async throws {
        try await finishes {
            let (runs, mayFail, mayClose, firstIsClosed) = (Counter(), Gate(), Gate(), Gate())
            let container = Container {
                Registration(NumberedFile.self, lifetime: lifetime) { _ in NumberedFile(number: runs.increment()) }
                    .onCreate { _, file in
                        guard file.number == 1 else { return }
                        await mayFail.pass()
                        throw TestError(1)
                    }
                    .onDispose { file in
                        if file.number == 1 { firstIsClosed.open() }
                        if file.number == 2 { await mayClose.pass() }
                    }
            }
            let first = Task { try await container.resolve(NumberedFile.self) }
            await mayFail.arrived()
            try await container.reset(NumberedFile.self)
            #expect(try await container.resolve(NumberedFile.self).number == 2)
            let reset = Task { try await container.reset(NumberedFile.self) }
            await mayClose.arrived()
            mayFail.open()
            await #expect(throws: TestError(1)) { try await first.value }
            await firstIsClosed.pass()
            await until { container.core.withState { state in state.closing.count == 1 } }
            let third = Task { try await container.resolve(NumberedFile.self) }
            await until { container.core.waiterCount(of: NumberedFile.self) == 1 || runs.value == 3 }
            #expect(runs.value == 2, "the second instance is still being closed")
            mayClose.open()
            #expect(try await third.value.number == 3)
            try await reset.value
            try await container.dispose()
        }
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
