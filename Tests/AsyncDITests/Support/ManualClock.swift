import Testing

@testable import AsyncDI

/// A clock that stands still until the test moves it.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = [:]
        /// The sleeps that were cancelled.
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.cancelled.contains(id) || deadline <= state.now { return true }
                    state.sleepers[id] = (deadline, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume()
        }
        // Read under the lock, because a value passed through a continuation is invisible to ThreadSanitizer.
        if state.withLock({ $0.cancelled.remove(id) }) != nil { throw CancellationError() }
    }

    func advance(by duration: Swift.Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    var hasSleepers: Bool { state.withLock { !$0.sleepers.isEmpty } }

    /// Lets seconds pass while tasks sleep, until the work is over.
    func pass(during work: Task<Void, any Error>) async throws {
        let isOver = Counter()
        let end = Task {
            defer { isOver.increment() }
            try await work.value
        }
        await until {
            if hasSleepers { advance(by: .seconds(1)) }
            return isOver.value == 1
        }
        try await end.value
    }

    /// Yields until as many tasks sleep.
    func sleepers(reach count: Int) async {
        while state.withLock({ $0.sleepers.count }) != count { await Task.yield() }
    }
}

/// A clock that tells the time, but refuses to sleep.
struct SleeplessClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { throw TestError() }
}

/// A clock that stands still, and whose sleeps return at once.
struct StandingClock: Clock {
    var now: ManualClock.Instant { ManualClock.Instant(offset: .zero) }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}
}
