import Exploration
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2)), .serialized)
struct ExplorerTests {
    /// Two tasks that read, yield, and write: the second may overwrite the first.
    private actor Account {
        private(set) var balance = 0

        func deposit() async {
            let before = balance
            await Task.yield()
            balance = before + 1
        }
    }

    private static let lostUpdate: Explorer.Body = { explored in
        let account = Account()
        let first = explored.task("first") { await account.deposit() }
        let second = explored.task("second") { await account.deposit() }
        _ = try await (first.value, second.value)
        let balance = await account.balance
        explored.note("balance \(balance)")
        explored.expect(balance == 2, "a deposit is lost")
    }

    @Test
    func `a lost update is found, and its shortened schedule fails again`() throws {
        let failure = try #require(Explorer(schedules: 1_000).explore(Self.lostUpdate).failure)
        #expect(failure.problems == ["a deposit is lost"])
        #expect(failure.notes.contains("balance 1"))
        let choices = try #require(ExplorationFailure.choices(from: failure.choiceText))
        let repeated = Explorer().replay(choices, Self.lostUpdate).failure
        #expect(repeated?.problems == failure.problems && repeated?.notes == failure.notes)
    }

    /// Fails only when all three write in the reverse order of their start.
    private static let rareOrder: Explorer.Body = { explored in
        let order = Mutex<[Int]>([])
        let tasks = (0..<3).map { number in
            explored.task("writer \(number)") {
                for _ in 0..<3 { await Task.yield() }
                order.withLock { $0.append(number) }
            }
        }
        for task in tasks { try await task.value }
        let result = order.withLock { $0 }
        explored.expect(result != [2, 1, 0], "written backwards")
    }

    @Test
    func `a rare order is found, and shortened to few departures`() throws {
        let failure = try #require(Explorer(schedules: 10_000).explore(Self.rareOrder).failure)
        #expect(failure.departures < failure.length / 2)
        #expect(Explorer().replay([], Self.rareOrder).failure == nil)
    }

    @Test
    func `the same seeds run the same schedules`() {
        func trace() -> [[String]] {
            let traces = Mutex<[[String]]>([])
            _ = Explorer(schedules: 300, firstSeed: 7).explore { explored in
                let lines = Mutex<[String]>([])
                let tasks = (0..<4).map { number in
                    explored.task("\(number)") {
                        for step in 0..<3 {
                            lines.withLock { $0.append("\(number).\(step)") }
                            try await explored.clock.sleep(for: .seconds(step))
                        }
                    }
                }
                for task in tasks { try await task.value }
                traces.withLock { traces in traces.append(lines.withLock { $0 }) }
            }
            return traces.withLock { $0 }
        }
        let first = trace()
        #expect(first == trace())
        #expect(Set(first).count > 50)
    }

    @Test
    func `a deadlock is reported with the tasks that wait`() throws {
        let failure = try #require(
            Explorer(schedules: 10).explore { explored in
                let task = explored.task("who waits") {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                try await task.value
            }.failure)
        #expect(failure.problems.count == 1)
        #expect(failure.problems[0].contains("deadlock") && failure.problems[0].contains("\"who waits\""))
    }

    @Test
    func `a loop without an end is reported`() throws {
        var explorer = Explorer(schedules: 1)
        explorer.stepLimit = 500
        let failure = explorer.explore { _ in while !Task.isCancelled { await Task.yield() } }.failure
        #expect(failure?.problems.first?.contains("no end after 500 steps") == true)
    }

    @Test
    func `an error of the body is a failure`() async {
        struct Own: Error {}
        let failure = Explorer(schedules: 1).explore { _ in throw Own() }.failure
        #expect(failure?.problems.first?.contains("Own") == true)
        await #expect(throws: ExplorationFailure.self) { try await explore(schedules: 1) { _ in throw Own() } }
    }

    @Test
    func `few schedules are all run, and the estimate is their number`() throws {
        let orders = Mutex<Set<[Int]>>([])
        let report = Explorer(schedules: 2_000).explore { explored in
            let order = Mutex<[Int]>([])
            let tasks = (0..<3).map { number in
                explored.task("\(number)") { order.withLock { $0.append(number) } }
            }
            for task in tasks { try await task.value }
            let result = order.withLock { $0 }
            orders.withLock { _ = $0.insert(result) }
        }
        #expect(report.isExhaustive && report.failure == nil)
        #expect(orders.withLock { $0 }.count == 6)
        let estimate = try #require(report.estimate)
        #expect(estimate > Double(report.distinct) / 2 && estimate < Double(report.distinct) * 2)
    }

    @Test
    func `time is virtual, and passes at any moment`() async throws {
        let outcomes = Mutex<Set<Bool>>([])
        let start = ContinuousClock.now
        try await explore(schedules: 200) { explored in
            let work = explored.task("work") { for _ in 0..<3 { await Task.yield() } }
            let isDone = Mutex(false)
            let watch = explored.task("watch") {
                try await work.value
                isDone.withLock { $0 = true }
            }
            try await explored.clock.sleep(for: .seconds(3_600))
            let result = isDone.withLock { $0 }
            outcomes.withLock { _ = $0.insert(result) }
            try await Task.sleep(for: .seconds(3_600))
            try await watch.value
        }
        #expect(outcomes.withLock { $0 } == [true, false])
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test
    func `a sleeper that is cancelled goes on at once`() async throws {
        let cancelled = Mutex(0)
        try await explore(schedules: 100) { explored in
            let start = explored.clock.now
            let sleeper = explored.task("sleeper") { try await explored.clock.sleep(for: .seconds(1_000)) }
            await Task.yield()
            let isAsleep = start.duration(to: explored.clock.now) < .seconds(1_000)
            sleeper.cancel()
            let outcome = await sleeper.result
            guard isAsleep else { return }
            guard case .failure(let error) = outcome else { return explored.expect(false, "it slept on") }
            explored.expect(error is CancellationError, "\(error)")
            cancelled.withLock { $0 += 1 }
        }
        #expect(cancelled.withLock { $0 } > 0)
    }

    @Test
    func `tasks that sleep equally long by the runtime's clock wake in the order of their sleeps`() async throws {
        func order(_ duration: Duration) -> [Int] {
            let order = Mutex<[Int]>([])
            _ = Explorer().replay([]) { explored in
                let tasks = (0..<20).map { number in
                    explored.task("\(number)") {
                        try await Task.sleep(for: duration)
                        order.withLock { $0.append(number) }
                    }
                }
                for task in tasks { try await task.value }
            }
            return order.withLock { $0 }
        }
        for duration in [Duration.seconds(1), .milliseconds(1), .microseconds(500)] {
            for _ in 0..<20 { #expect(order(duration) == Array(0..<20)) }
        }
        // So long a sleep is not rounded.
        #expect(order(.seconds(Int64.max / 2)).count == 20)
    }

    @Test
    func `a schedule that leaves threads stopped is the last one of its process, and is not shortened`() async {
        await #expect(processExitsWith: .success) {
            var explorer = Explorer(schedules: 500)
            explorer.isInside = true
            let failure = explorer.explore { explored in
                let (first, second) = (SystemLock(), SystemLock())
                func hold(_ outer: SystemLock, _ inner: SystemLock) -> @Sendable () -> Void {
                    {
                        outer.lock()
                        Explorer.schedulePoint(1)
                        inner.lock()
                        inner.unlock()
                        outer.unlock()
                    }
                }
                let tasks = [
                    explored.task("first", hold(first, second)), explored.task("second", hold(second, first)),
                ]
                for task in tasks { try await task.value }
            }.failure
            precondition(failure?.leavesThreads == true && failure?.problems.first?.contains("deadlock") == true)
            precondition(failure?.description.contains("not shortened further") == true)
            let next = Explorer(schedules: 1).explore { _ in }.failure
            precondition(next?.problems.first?.contains("in a new process") == true)
        }
    }

    @Test
    func `detached tasks, actors and the main actor belong to the schedule`() async throws {
        let report = try await explore(schedules: 500) { explored in
            let account = Account()
            let detached = Task.detached {
                await account.deposit()
                return await Task { @MainActor in
                    MainActor.assertIsolated()
                    await Task.yield()
                    MainActor.assertIsolated()
                    return 1
                }.value
            }
            await account.deposit()
            explored.expect(await detached.value == 1, "lost")
        }
        #expect(report.distinct > 10)
    }

    @Test
    func `the inside of steps is explored at schedule points`() {
        var explorer = Explorer(schedules: 200)
        explorer.isInside = true
        let failure = explorer.explore { explored in
            let count = Mutex(0)
            let tasks = (0..<2).map { number in
                explored.task("\(number)") {
                    let seen = count.withLock { $0 }
                    Explorer.schedulePoint(1)
                    count.withLock { $0 = seen + 1 }
                }
            }
            for task in tasks { try await task.value }
            explored.expect(count.withLock { $0 } == 2, "lost")
        }.failure
        #expect(failure?.problems == ["lost"])
    }

    @Test
    func `a thread that needs the lock of a stopped thread waits for it`() {
        var explorer = Explorer(schedules: 200)
        explorer.isInside = true
        let report = explorer.explore { explored in
            let lock = NSLock()
            let tasks = (0..<3).map { number in
                explored.task("\(number)") { lock.withLock { Explorer.schedulePoint(1) } }
            }
            for task in tasks { try await task.value }
        }
        #expect(report.failure == nil)
        #expect(report.distinct > 10)
    }

    @Test
    func `choices that are no choices are refused`() {
        #expect(ExplorationFailure.choices(from: "none") == [])
        #expect(ExplorationFailure.choices(from: "1:2,3:1") == [0, 2, 0, 1])
        #expect(ExplorationFailure.choices(from: "3:1,1:2") == nil)
        #expect(ExplorationFailure.choices(from: "x") == nil)
    }
}

/// A lock of the system, which explored threads share turns for.
private final class SystemLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}
