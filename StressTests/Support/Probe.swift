import Synchronization

/// Counts runs, and how many of them overlapped.
final class Probe: Sendable {
    private let started = Atomic<Int>(0)
    private let running = Atomic<Int>(0)
    private let most = Atomic<Int>(0)

    var runs: Int { started.load(ordering: .sequentiallyConsistent) }
    var peak: Int { most.load(ordering: .sequentiallyConsistent) }

    /// Counts the beginning of a run, and returns its number, from 1.
    @discardableResult
    func enter() -> Int {
        let now = running.add(1, ordering: .sequentiallyConsistent).newValue
        most.max(now, ordering: .sequentiallyConsistent)
        return started.add(1, ordering: .sequentiallyConsistent).newValue
    }

    func leave() {
        running.subtract(1, ordering: .sequentiallyConsistent)
    }
}

/// A number that many tasks change.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    func set(_ newValue: Int) {
        number.store(newValue, ordering: .sequentiallyConsistent)
    }

    @discardableResult
    func add(_ amount: Int = 1) -> Int {
        number.add(amount, ordering: .sequentiallyConsistent).newValue
    }
}

/// Collects the failures of many tasks, so that a test fails once with examples instead of ten thousand times.
final class Complaints: Sendable {
    private let examples = Locked((count: 0, texts: [String]()))

    var isEmpty: Bool { examples.withLock { $0.count == 0 } }

    var summary: String {
        examples.withLock { "\($0.count) complaints: " + $0.texts.joined(separator: "; ") }
    }

    func add(_ text: @autoclosure () -> String) {
        examples.withLock { examples in
            examples.count += 1
            if examples.texts.count < 5 { examples.texts.append(text()) }
        }
    }

    func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { add(text()) }
    }
}
