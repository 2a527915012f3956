/// The waits of requests: when they began, and which of them have been reported.
///
/// A pure value over times since some beginning. Requests with the same waiter and target count as one wait, which
/// began with the first of them: ten thousand tasks that wait for one slow service are one report.
///
/// The cost of a call does not depend on the number of waits, except for those that it reports.
struct StallWatch<Wait: Hashable> {
    private struct Entry {
        let number: Int
        var count = 1
    }

    /// A wait that may have ended since.
    private struct Queued {
        let number: Int
        let begin: Duration
    }

    let threshold: Duration
    private var entries: [Wait: Entry] = [:]
    /// The waits that have not been reported, by their numbers.
    private var unreported: [Int: Wait] = [:]
    /// In the order of their beginning, from `first` on; ended ones are skipped when their turn comes.
    private var queue: [Queued] = []
    private var first = 0
    private var nextNumber = 0

    init(threshold: Duration) { self.threshold = threshold.addable }

    var isEmpty: Bool { entries.isEmpty }

    mutating func begin(_ wait: Wait, at now: Duration) {
        if entries[wait] != nil {
            entries[wait]!.count += 1
            return
        }
        entries[wait] = Entry(number: nextNumber)
        unreported[nextNumber] = wait
        queue.append(Queued(number: nextNumber, begin: now))
        nextNumber += 1
    }

    mutating func end(_ wait: Wait) {
        guard let entry = entries[wait] else { return }
        if entry.count > 1 {
            entries[wait]!.count -= 1
            return
        }
        entries[wait] = nil
        unreported[entry.number] = nil
        if queue.count > 64, queue.count > 4 * unreported.count {
            queue = queue[first...].filter { unreported[$0.number] != nil }
            first = 0
        }
    }

    /// The waits that have become too long since the last call, the longest first.
    mutating func due(at now: Duration) -> [(wait: Wait, lasted: Duration)] {
        var due: [(wait: Wait, lasted: Duration)] = []
        while first < queue.count {
            let next = queue[first]
            if let wait = unreported[next.number] {
                guard now - next.begin >= threshold else { break }
                unreported[next.number] = nil
                due.append((wait, now - next.begin))
            }
            first += 1
        }
        return due
    }

    /// How long until the next wait becomes too long, after a call of ``due(at:)``; nil when none can.
    func nextCheck(at now: Duration) -> Duration? {
        first < queue.count ? queue[first].begin + threshold - now : nil
    }
}
