import Testing

@testable import AsyncDI

/// Work that leads to more work of its kind, which takes no more stack.
@Suite(.timeLimit(.minutes(10))) struct DoInTurnTests {
    @Test func `inner work is done after the outer one, in order, before the first call returns`() {
        let log = Log<Int>()
        doInTurn {
            log.append(1)
            doInTurn {
                log.append(3)
                doInTurn { log.append(5) }
            }
            doInTurn { log.append(4) }
            log.append(2)
        }
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func `a chain takes no more stack than one piece of work`() {
        let done = Counter()
        @Sendable func work(_ left: Int) {
            done.increment()
            if left > 0 { doInTurn { work(left - 1) } }
        }
        work(1_000_000)
        #expect(done.value == 1_000_001)
    }

    @Test func `a chain of creations is cancelled to its end, and gets a higher priority to its end`() async throws {
        let (innermost, depth) = (Gate(), 1_000)
        let ended = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (r, left: Int) in
                defer { ended.increment() }
                if left == 0 {
                    innermost.arrive()
                    try await untilCancelled()
                }
                return try await r.resolve(Thing.self, arguments: left - 1)
            }
        }
        let request = Task(priority: .low) { try await container.resolve(Thing.self, arguments: depth) }
        await innermost.arrived()
        let urgent = Task(priority: .high) { try await container.resolve(Thing.self, arguments: depth) }
        for _ in 0..<100 { await Task.yield() }
        urgent.cancel()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        await until { ended.value == depth + 1 }
        try await container.dispose()
    }
}
