/// The result of an exploration.
public struct ExplorationReport: Sendable {
    /// The number of schedules that ran.
    public internal(set) var schedules = 0
    /// The number of distinct schedules among them.
    public internal(set) var distinct = 0
    /// The estimated number of all schedules, from the random walks (Knuth's estimate); nil without a random walk.
    public internal(set) var estimate: Double?
    /// Whether every schedule of the steps that ``Explorer`` tells apart was run.
    public internal(set) var isExhaustive = false
    /// The highest number of steps in a schedule.
    public internal(set) var longest = 0
    /// The failure that ended the exploration.
    public internal(set) var failure: ExplorationFailure?

    /// Creates an empty report.
    public init() {}

    /// Adds the numbers of another exploration: of the same body with other data.
    public mutating func add(_ other: ExplorationReport) {
        isExhaustive = (isExhaustive || schedules == 0) && other.isExhaustive
        schedules += other.schedules
        distinct += other.distinct
        if let more = other.estimate { estimate = (estimate ?? 0) + more }
        longest = max(longest, other.longest)
        failure = failure ?? other.failure
    }
}

/// A schedule that failed, with the means to repeat it, and its shortened form.
public struct ExplorationFailure: Error, CustomStringConvertible, Sendable {
    /// The problems: complaints, or a deadlock with the waiting tasks.
    public let problems: [String]
    /// The seed that chose the schedule; nil where the search was systematic.
    public let seed: UInt64?
    /// The number of choices in the schedule.
    public let length: Int
    /// The choices of the shortened schedule; the rest are zeros: first come, first served.
    public let choices: [Int]
    /// The body's notes in the shortened schedule.
    public let notes: [String]
    /// Whether threads remain stopped inside their jobs, perhaps with locks: the failure is not shortened any further,
    /// and the process explores nothing any more.
    public let leavesThreads: Bool

    /// The number of departures of the shortened schedule from first come, first served.
    public var departures: Int { choices.count { $0 != 0 } }

    /// Everything, over several lines.
    public var description: String {
        var lines = problems.map { "✘ \($0)" }
        if let seed { lines.append("  seed \(seed), \(length) choices") }
        let verb = leavesThreads ? "not shortened further:" : "shortened to"
        lines.append("  \(verb) \(departures) departures from first come, first served: \(choiceText)")
        lines += notes.map { "  · \($0)" }
        return lines.joined(separator: "\n")
    }

    /// The choices in the form that a replay accepts: "step:option", separated by commas.
    public var choiceText: String { Self.text(of: choices) }

    static func text(of choices: [Int]) -> String {
        let text = choices.enumerated().filter { $0.element != 0 }.map { "\($0.offset):\($0.element)" }
        return text.isEmpty ? "none" : text.joined(separator: ",")
    }

    /// The choices that a text describes; nil for any other text.
    public static func choices(from text: String) -> [Int]? {
        if text == "none" { return [] }
        var choices: [Int] = []
        for part in text.split(separator: ",") {
            let pair = part.split(separator: ":").compactMap { Int($0) }
            guard pair.count == 2, pair[0] >= choices.count else { return nil }
            choices += Array(repeating: 0, count: pair[0] - choices.count) + [pair[1]]
        }
        return choices
    }
}
