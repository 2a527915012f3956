import Dispatch

/// Whether a body ends within a bound, by a real clock.
///
/// A body that hangs cannot be ended: it is left behind, with everything it holds.
func ends(within bound: Duration, _ body: @escaping @Sendable () async -> Void) async -> Bool {
    let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
    // Not passed through the continuation: one that is resumed while its task is still suspending is invisible to
    // ThreadSanitizer.
    let hasEnded = Locked(false)
    let resume: @Sendable () -> Void = {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume()
    }
    let timer = DispatchWorkItem { resume() }
    await withCheckedContinuation { continuation in
        waiting.set(continuation)
        Task.detached {
            await body()
            hasEnded.set(true)
            resume()
        }
        let seconds = Double(bound.components.seconds)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: timer)
    }
    timer.cancel()
    return hasEnded.current
}

/// The current activities, for the report of a hang.
final class Roster: Sendable {
    private let state = Locked((next: 0, entries: [Int: String]()))

    func enter(_ description: String) -> Int {
        state.withLock { state in
            state.next += 1
            state.entries[state.next] = description
            return state.next
        }
    }

    func leave(_ entry: Int) { state.withLock { $0.entries[entry] = nil } }

    /// One line for each activity that has not ended, in the order of their beginnings.
    var report: String {
        state.current.entries.sorted { $0.key < $1.key }.map { "  \($0.value)" }.joined(separator: "\n")
    }
}

/// The latest of many events.
final class Trail: Sendable {
    private let events = Locked<[String]>([])
    private let most = 400

    func add(_ event: String) {
        events.withLock { events in
            if events.count == most { events.removeFirst(most / 2) }
            events.append(event)
        }
    }

    var report: String { events.current.map { "  \($0)" }.joined(separator: "\n") }
}
