import AsyncDI
import Exploration
import Testing

/// Exploring an application's own container, as the guide about testing shows it.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ApplicationTests {
    /// A pool of connections that counts how many are open.
    actor Pool {
        private(set) var openConnections = 0
        private(set) var isClosed = false

        func connect() throws {
            if isClosed { throw CancellationError() }
            openConnections += 1
        }
        func disconnect() { openConnections -= 1 }
        func close() { isClosed = true }
    }

    struct AppModule: Module {
        var registrations: Registrations {
            Registration(Pool.self, lifetime: .singleton) { _ in
                await Task.yield()
                return Pool()
            }
            .onDispose { pool in await pool.close() }
        }
    }

    @Test func `no request finds the pool closed`() async {
        await #expect(processExitsWith: .success) {
            try await explore(schedules: 2_000) { explored in
                let container = Container(clock: explored.clock) { AppModule() }
                explored.explainDeadlock { "\(container.activity())" }
                let requests = (1...3).map { number in
                    explored.task("request \(number)") {
                        try await container.withInstance(Pool.self) { pool in
                            try await pool.connect()
                            await pool.disconnect()
                        }
                    }
                }
                let reload = explored.task("reload") { try await container.reset(Pool.self) }
                for request in requests { try await request.value }
                try await reload.value
                try await container.dispose()
            }
        }
    }

    /// The same without a lease, which is a mistake: the pool may be closed between two steps.
    @Test func `a request without a lease is found out`() async {
        await #expect(processExitsWith: .success) {
            let report = Explorer(schedules: 2_000).explore { explored in
                let container = Container(clock: explored.clock) { AppModule() }
                let request = explored.task("request") {
                    let pool = try await container.resolve(Pool.self)
                    try await pool.connect()
                }
                let reload = explored.task("reload") { try await container.reset(Pool.self) }
                try await reload.value
                try await request.value
                try await container.dispose()
            }
            try #require(report.failure?.problems.contains { $0.contains("CancellationError") } == true)
        }
    }

    @Test func `a deadlock is reported with its waits`() async {
        await #expect(processExitsWith: .success) {
            let report = Explorer(schedules: 10).explore { explored in
                let container = Container(clock: explored.clock) {
                    Registration(Pool.self, lifetime: .singleton) { _ in
                        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                        return Pool()
                    }
                }
                explored.explainDeadlock { "\(container.activity())" }
                _ = try await explored.task("request") { try await container.resolve(Pool.self) }.value
            }
            let problems = try #require(report.failure?.problems)
            try #require(problems[0].contains("\"request\""))
            try #require(problems.count == 2 && problems[1].contains("creating ApplicationTests.Pool"))
        }
    }
}
