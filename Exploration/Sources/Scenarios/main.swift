import AsyncDI
import Exploration

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The command line.
///
/// `explore [NAME …] [--schedules N] [--seed S] [--data D] [--replay CHOICES] [--inside] [--first] [--unshortened] [--list] [--shard I/N]`
struct Command {
    var names: [String] = []
    var schedules = environment("ASYNCDI_SCHEDULES").flatMap { Int($0) } ?? 10_000
    var firstSeed: UInt64 = 1
    /// The one random world to run, with `--seed` or `--replay`.
    var data: UInt64?
    var replay: [Int]?
    var isList = false
    /// Whether the inside of jobs is explored, at the library's schedule points.
    var isInside = false
    /// Whether to stop at the first failure, and not to shorten it.
    var isFirst = false
    /// Whether failures are not shortened, which is faster for many of them.
    var isUnshortened = false
    var shard = (index: 0, count: 1)

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    init(_ arguments: [String]) {
        var rest = arguments[...]
        func value() -> String {
            guard let value = rest.popFirst() else { Command.stop("an option lacks its value") }
            return value
        }
        while let next = rest.popFirst() {
            switch next {
            case "--list": isList = true
            case "--inside": isInside = true
            case "--first": isFirst = true
            case "--unshortened": isUnshortened = true
            case "--schedules": schedules = Int(value()) ?? schedules
            case "--seed": firstSeed = UInt64(value()) ?? 1
            case "--data": data = UInt64(value())
            case "--replay": replay = ExplorationFailure.choices(from: value())
            case "--shard":
                let parts = value().split(separator: "/").compactMap { Int($0) }
                if parts.count == 2 { shard = (parts[0], parts[1]) }
            case _ where next.hasPrefix("--"): Command.stop("unknown option \(next)")
            default: names.append(next)
            }
        }
    }

    static func stop(_ message: String) -> Never {
        print("explore: \(message)")
        exit(2)
    }

    func run() {
        var chosen = Scenario.all.filter { names.isEmpty || names.contains($0.name) }
        chosen = chosen.enumerated().filter { $0.offset % shard.count == shard.index }.map(\.element)
        if chosen.isEmpty { Command.stop("no scenario is called \(names.joined(separator: ", "))") }
        if isList {
            for scenario in chosen { print("\(scenario.name): \(scenario.claim)") }
            return
        }
        var failures = 0
        var total = 0
        let start = ContinuousClock.now
        for scenario in chosen {
            let begin = ContinuousClock.now
            var sum = ExplorationReport()
            let (failure, world) = explore(scenario, &sum)
            total += sum.schedules
            print(line(scenario, sum, ContinuousClock.now - begin, hasFailed: failure != nil))
            if let failure {
                failures += 1
                print(failure)
                print(
                    "  repeat with: explore \(scenario.name) --data \(world) --replay \(failure.choiceText)")
            }
            fflush(nil)
            if failures > 0, isFirst { break }
            if failure?.leavesThreads == true {
                print("its threads are stopped: run the other scenarios in another process")
                break
            }
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        print("\(chosen.count) scenarios, \(total) schedules, \(failures) failed, \(seconds) s")
        exit(failures == 0 ? 0 : 1)
    }

    /// Explores all worlds of a scenario; returns the first failure, and its world.
    private func explore(_ scenario: Scenario, _ sum: inout ExplorationReport) -> (ExplorationFailure?, UInt64) {
        let worlds = data.map { [$0] } ?? (0..<UInt64(scenario.worlds)).map { firstSeed &+ $0 }
        let each = max(1, Int(Double(schedules) * scenario.share) / worlds.count)
        for world in worlds {
            var explorer = Explorer(schedules: each, firstSeed: firstSeed)
            explorer.dataSeed = world
            explorer.shortens = !isFirst && !isUnshortened
            explorer.isInside = isInside
            if isInside { explorer.stepLimit *= 10 }
            Crash.where = "\(scenario.name) --data \(world)"
            let report =
                if let replay { explorer.replay(replay, scenario.body) } else { explorer.explore(scenario.body) }
            sum.add(report)
            if let failure = report.failure { return (failure, world) }
        }
        return (nil, 0)
    }

    private func line(
        _ scenario: Scenario, _ report: ExplorationReport, _ time: Duration, hasFailed: Bool
    ) -> String {
        let estimate = report.isExhaustive ? "all there are" : "of about \(report.estimate.map(Self.rounded) ?? "?")"
        let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return "\(hasFailed ? "✘" : "✔") \(scenario.name): \(report.schedules) schedules, \(report.distinct) distinct, "
            + "\(estimate), up to \(report.longest) steps, \(milliseconds) ms"
    }

    /// Two digits and a power of ten.
    private static func rounded(_ number: Double) -> String {
        if !number.isFinite { return "1e308 or more" }
        if number < 100_000 { return "\(Int(number))" }
        let power = Int(log10(number))
        return "\(Int((number / pow(10, Double(power))).rounded()))e\(power)"
    }
}

Deterministic.restartOnce()
Crash.report()
#if ASYNCDI_EXPLORATION && os(Linux)
    SchedulePoint.hook = Explorer.schedulePoint
#endif
Command(Array(CommandLine.arguments.dropFirst())).run()
