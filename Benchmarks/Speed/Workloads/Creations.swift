import AsyncDI
import Synchronization

/// Making shared instances, and waiting for them.
func registerCreations() {
    compare("creation", operations: 1_000) {
        Comparison { operations in
            let containers = (0..<max(1, operations / 100)).map { _ in
                Container { for type in hundredTypes { singleton(of: type) } }
            }
            let each = min(100, operations)
            return try await time {
                for container in containers {
                    for type in hundredTypes.prefix(each) { try await create(type, in: container) }
                }
            }
        } baseline: {
            try await timeTasks($0)
        }
    }
    compare("waiters", operations: 10_000, rounds: 50) {
        Comparison { waiters in
            let gate = Gate(for: waiters)
            let container = Container {
                Registration((any Service).self, lifetime: .singleton) { _ in
                    await gate.wait()
                    return SomeService()
                }
            }
            return try await time {
                try await concurrently(waiters) {
                    gate.arrive()
                    consume(try await container.resolve((any Service).self))
                }
            }
        } baseline: {
            try await waitForTask($0)
        }
    }
    compare("waiters-multiton", operations: 10_000, rounds: 50) {
        Comparison { waiters in
            let gate = Gate(for: waiters)
            let container = Container {
                Registration((any Service).self, lifetime: .multiton) { (_, _: Int) in
                    await gate.wait()
                    return SomeService()
                }
            }
            return try await time {
                try await concurrently(waiters) {
                    gate.arrive()
                    consume(try await container.resolve((any Service).self, arguments: 1))
                }
            }
        } baseline: {
            try await waitForTask($0)
        }
    }
}

/// Baseline **W**: tasks that await one shared task.
nonisolated(nonsending) func waitForTask(_ waiters: Int) async throws -> Duration {
    let gate = Gate(for: waiters)
    return try await time {
        let shared = Task { () -> any Service in
            await gate.wait()
            return SomeService()
        }
        try await concurrently(waiters) {
            gate.arrive()
            consume(await shared.value)
        }
    }
}

private nonisolated(nonsending) func create<Value: Numbered>(_ type: Value.Type, in container: Container) async throws {
    keep(try await container.resolve(type))
}

/// Baseline **T**: an empty task, awaited.
nonisolated(nonsending) func startTasks(_ count: Int) async {
    for _ in 0..<count { await Task {}.value }
}

/// The same beside something that leaves the allocator and the caches with other things to do: not timed until it runs
/// evenly, and timed for no more tasks than tell how long one takes.
nonisolated(nonsending) func timeTasks(_ count: Int) async throws -> Duration {
    let tasks = min(count, 1_000)
    await startTasks(tasks)
    return try await time { await startTasks(tasks) } * count / tasks
}

/// Opens when everybody has arrived.
final class Gate: Sendable {
    private let missing: Atomic<Int>
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(for count: Int) {
        missing = Atomic(count)
        (stream, continuation) = AsyncStream.makeStream()
    }

    func arrive() {
        if missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { continuation.finish() }
    }

    func wait() async { for await _ in stream {} }
}
