import Synchronization

/// One schedule of an explored body, as the body sees it: its clock, and its log of actions and findings.
public final class Explored: Sendable {
    private struct State {
        var notes: [String] = []
        var complaints: [String] = []
        var unfinished: [Int: String] = [:]
        var tasks = 0
        var explanations: [@Sendable () -> String] = []
    }

    private let state = Mutex(State())

    /// The virtual time.
    public let clock = VirtualClock()
    /// The same number in every schedule of one exploration: for bodies with random data.
    public let dataSeed: UInt64

    init(dataSeed: UInt64) { self.dataSeed = dataSeed }

    /// Adds a line to the notes in a failure's report.
    public func note(_ text: @autoclosure () -> String) {
        let text = text()
        state.withLock { $0.notes.append(text) }
    }

    /// Fails the schedule unless the condition holds.
    ///
    /// The code after it still runs.
    public func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        if !condition { fail(complaint()) }
    }

    /// Fails the schedule.
    ///
    /// The code after it still runs.
    public func fail(_ complaint: String) {
        state.withLock { state in
            state.complaints.append(complaint)
            state.notes.append("✘ " + complaint)
        }
    }

    /// Starts a task that a deadlock's report names while it has not ended.
    @discardableResult
    public func task<Value: Sendable>(
        _ name: String, _ operation: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        let id = state.withLock { state in
            state.tasks += 1
            state.unfinished[state.tasks] = name
            return state.tasks
        }
        return Task {
            defer { state.withLock { _ = $0.unfinished.removeValue(forKey: id) } }
            return try await operation()
        }
    }

    /// Adds the closure's text to the report of a deadlock: for example, the waits between tasks.
    ///
    /// It is called when no more jobs can run, and must not wait.
    public func explainDeadlock(_ explanation: @escaping @Sendable () -> String) {
        state.withLock { $0.explanations.append(explanation) }
    }

    /// Whether the schedule has not failed yet.
    public var isFine: Bool { complaints.isEmpty }

    var explanation: String {
        state.withLock { $0.explanations }.map { $0() }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
    var notes: [String] { state.withLock { $0.notes } }
    var complaints: [String] { state.withLock { $0.complaints } }
    /// The tasks that have not ended, in the order of their start.
    var unfinished: [String] { state.withLock { state in state.unfinished.sorted { $0.key < $1.key }.map(\.value) } }
}
