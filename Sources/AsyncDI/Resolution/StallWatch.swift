/// The waits of requests: when they began, and which of them have been reported.
///
/// A pure value over times since some beginning. Requests with the same waiter and target count as one wait, which
/// began with the first of them: ten thousand tasks that wait for one slow service are one report.
struct StallWatch<Wait: Hashable> {
    private struct Entry {
        let begin: Duration
        var count = 1
        var isReported = false
    }

    let threshold: Duration
    private var entries: [Wait: Entry] = [:]

    init(threshold: Duration) { self.threshold = threshold.addable }

    var isEmpty: Bool { entries.isEmpty }

    mutating func begin(_ wait: Wait, at now: Duration) {
        if entries[wait] == nil { entries[wait] = Entry(begin: now) } else { entries[wait]!.count += 1 }
    }

    mutating func end(_ wait: Wait) {
        guard let count = entries[wait]?.count else { return }
        if count > 1 { entries[wait]!.count -= 1 } else { entries[wait] = nil }
    }

    /// The waits that have become too long since the last call, the longest first.
    mutating func due(at now: Duration) -> [(wait: Wait, lasted: Duration)] {
        let due = entries.filter { !$0.value.isReported && now - $0.value.begin >= threshold }
        for wait in due.keys { entries[wait]!.isReported = true }
        return due.sorted { $0.value.begin < $1.value.begin }.map { ($0.key, now - $0.value.begin) }
    }

    /// How long until the next wait becomes too long; nil when none can.
    func nextCheck(at now: Duration) -> Duration? {
        entries.values.lazy.filter { !$0.isReported }.map(\.begin).min().map { $0 + threshold - now }
    }
}
