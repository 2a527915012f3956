import AsyncDI
import Exploration

/// A guarantee, and a body that must keep it in every schedule.
struct Scenario {
    let name: String
    /// The guarantee, in the words of the documentation.
    let claim: String
    /// The number of schedules, as a share of the requested number; smaller for long schedules.
    var share = 1.0
    /// The number of random worlds for the schedules, if the body draws one from its data seed.
    var worlds = 1
    let body: Explorer.Body

    static let all: [Scenario] =
        sharing + cancellation + cycles + replacement + disposal + scopes + multitons + starting + observing + survivors
        + meetings + worlds
}

/// A service without content: holders of the same one share it.
final class Token: Sendable {
    let number: Int
    let held: [Token]

    init(_ number: Int = 0, holding held: [Token] = []) {
        self.number = number
        self.held = held
    }
}

/// A factory's own error.
struct Failure: Error, Equatable {
    let number: Int
}

/// The notes of a scenario: in order, from any task.
final class Journal<Entry: Sendable>: Sendable {
    private let content = Locked<[Entry]>([])

    var entries: [Entry] { content.current }
    func add(_ entry: Entry) { content.withLock { $0.append(entry) } }
}

extension Result where Failure == any Error {
    var value: Success? { try? get() }
    var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
    func failed(with code: ResolutionError.Code) -> Bool { error.map { code ~= $0 } ?? false }
    var isCancellation: Bool { error is CancellationError }
}

extension Explored {
    /// Adds the container's waits to a deadlock's report.
    func watch(_ container: Container) {
        explainDeadlock { [weak container] in
            guard let activity = container?.activity(), !activity.isEmpty else { return "" }
            return "\(activity)"
        }
    }

    /// The outcomes of concurrent tasks, in the order of their start.
    func outcomes<Value: Sendable>(
        _ count: Int, of name: String, _ operation: @escaping @Sendable (Int) async throws -> Value
    ) async -> [Result<Value, any Error>] {
        let tasks = (0..<count).map { number in task("\(name) \(number)") { try await operation(number) } }
        var outcomes: [Result<Value, any Error>] = []
        for task in tasks { outcomes.append(await task.result) }
        return outcomes
    }

    /// Fails the schedule for every result except a success.
    func successes<Value>(_ outcomes: [Result<Value, any Error>], _ what: String) -> [Value] {
        outcomes.compactMap { outcome in
            if let error = outcome.error { fail("\(what): \(error)") }
            return outcome.value
        }
    }

    /// Fails the schedule unless all are the same object.
    func expectSame(_ tokens: [Token], _ what: String) {
        expect(Set(tokens.map(ObjectIdentifier.init)).count <= 1, "\(what): more than one instance")
    }
}

/// A point at which other tasks may go first.
func pause(_ times: Int = 1) async {
    for _ in 0..<times { await Task.yield() }
}
