/// What an exploration did.
public struct ExplorationReport: Sendable {
    /// How many schedules ran.
    public internal(set) var schedules = 0
    /// How many of them were different ones.
    public internal(set) var distinct = 0
    /// How many schedules there are, as the random walks let one guess (Knuth's estimate); nil without a random walk.
    public internal(set) var estimate: Double?
    /// Whether every schedule there is was run, so that nothing is left to chance.
    public internal(set) var isExhaustive = false
    /// The most steps that a schedule had.
    public internal(set) var longest = 0
    /// The failure that ended the exploration.
    public internal(set) var failure: ExplorationFailure?

    /// Nothing yet.
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

/// A schedule that failed: how to repeat it, and its shortened form.
public struct ExplorationFailure: Error, CustomStringConvertible, Sendable {
    /// What is wrong: complaints, or a deadlock with the tasks that wait.
    public let problems: [String]
    /// The seed that chose the schedule; nil where the search was systematic.
    public let seed: UInt64?
    /// How many choices the schedule had.
    public let length: Int
    /// The choices of the shortened schedule; the rest are zeros, first come, first served.
    public let choices: [Int]
    /// What the body noted in the shortened schedule.
    public let notes: [String]

    /// How often the shortened schedule departs from first come, first served.
    public var departures: Int { choices.count { $0 != 0 } }

    /// Everything, over several lines.
    public var description: String {
        var lines = problems.map { "✘ \($0)" }
        if let seed { lines.append("  seed \(seed), \(length) choices") }
        lines.append("  shortened to \(departures) departures from first come, first served: \(choiceText)")
        lines += notes.map { "  · \($0)" }
        return lines.joined(separator: "\n")
    }

    /// The choices in the form that a replay takes: "step:option", separated by commas.
    public var choiceText: String { Self.text(of: choices) }

    static func text(of choices: [Int]) -> String {
        let text = choices.enumerated().filter { $0.element != 0 }.map { "\($0.offset):\($0.element)" }
        return text.isEmpty ? "none" : text.joined(separator: ",")
    }

    /// The choices that a text stands for; nil where it is none.
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
