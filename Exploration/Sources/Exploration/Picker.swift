/// A step that may run next.
struct Option {
    /// The owner of the step: a task, an actor's queue or the timers, numbered in the order of their appearance.
    let owner: Int
    /// Whether it moves the virtual time to the next timer.
    var isTimer = false
    /// Whether it resumes the thread that is at a schedule point.
    var goesOn = false
}

/// Chooses an option at every step: a value that knows neither tasks nor jobs.
enum Picker {
    case walk(RandomWalk)
    case pct(PriorityPicker)
    /// These choices, then the first option each time.
    case replay([Int])

    /// Creates the picker of a seed; `steps` is the approximate number of choices in a schedule of this body.
    init(seed: UInt64, steps: Int) {
        if seed % 2 == 0 {
            self = .walk(RandomWalk(seed: seed))
        } else {
            self = .pct(PriorityPicker(seed: seed, steps: steps))
        }
    }

    /// Picks an option.
    ///
    /// - Parameters:
    ///   - options: Two or more options.
    ///   - number: The number of earlier choices.
    /// - Returns: The option to take, and its probability.
    mutating func pick(_ options: [Option], number: Int) -> (index: Int, probability: Double) {
        switch self {
        case .walk(var walk):
            defer { self = .walk(walk) }
            return walk.pick(options)
        case .pct(var priorities):
            defer { self = .pct(priorities) }
            return (priorities.pick(options, number: number), 1)
        case .replay(let choices):
            return (number < choices.count ? min(choices[number], options.count - 1) : 0, 1)
        }
    }

    /// Whether the probabilities allow an estimate of the number of schedules.
    var isUnbiased: Bool {
        if case .walk = self { true } else { false }
    }
}

/// Every option has the same probability, except for timers, which only every other walk hurries.
struct RandomWalk {
    private var random: SeededRandom
    private let timers: Double
    /// The probability that a thread continues at a schedule point, of which there are many.
    private let goesOn: Double

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        timers = random.chance(0.5) ? 0.25 : 0.02
        goesOn = random.pick([0.5, 0.8, 0.95, 0.99])
    }

    mutating func pick(_ options: [Option]) -> (index: Int, probability: Double) {
        if options[0].goesOn {
            if random.chance(goesOn) { return (0, goesOn) }
            let others = options.count - 1
            return (1 + random.below(others), (1 - goesOn) / Double(others))
        }
        guard let last = options.last, last.isTimer else {
            return (random.below(options.count), 1 / Double(options.count))
        }
        if random.chance(timers) { return (options.count - 1, timers) }
        let others = options.count - 1
        return (random.below(others), (1 - timers) / Double(others))
    }
}

/// Probabilistic concurrency testing: strict priorities in a random order, lowered at a few random steps.
///
/// A bug that needs `depth` steps in a certain order is found with a probability of at least 1 in tasks × steps^(depth
/// − 1) in each schedule (Burckhardt and others, 2010): it makes few preemptions at random depths, whereas a random
/// walk preempts all the time.
struct PriorityPicker {
    private var random: SeededRandom
    /// The higher, the sooner; new owners get a random priority above all lowered ones.
    private var priorities: [Int: Int] = [:]
    private let changes: [Int]
    private var lowered = 0
    /// The number of choices before the picker becomes random: strict priorities never end a loop that waits by
    /// yielding.
    private let patience: Int

    init(seed: UInt64, steps: Int) {
        random = SeededRandom(seed: seed)
        let depth = random.below(4)
        var changes: [Int] = []
        for _ in 0..<depth { changes.append(random.below(max(steps, 1))) }
        self.changes = changes
        patience = 10 * steps + 200
    }

    mutating func pick(_ options: [Option], number: Int) -> Int {
        if number > patience { return random.below(options.count) }
        for option in options where priorities[option.owner] == nil {
            // Time passes when no other step can run.
            priorities[option.owner] = option.isTimer ? .min : 1 + random.below(1 << 40)
        }
        var best = highest(of: options)
        if changes.contains(number) {
            lowered -= 1
            priorities[options[best].owner] = lowered
            best = highest(of: options)
        }
        return best
    }

    private func highest(of options: [Option]) -> Int {
        var best = 0
        for index in options.indices.dropFirst()
        where priorities[options[index].owner]! > priorities[options[best].owner]! {
            best = index
        }
        return best
    }
}
