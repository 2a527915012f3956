import AsyncDI

protocol Service: Sendable {
    var number: Int { get }
}

final class SomeService: Service {
    let number = 1
}

struct Slot: Qualifier { let index: Int }

/// Compares asking the container for a singleton with a lock around a dictionary.
///
/// `FirstLook [ROUNDS]`, in a release build; prints the medians and their ratio.
@main
enum FirstLook {
    static func main() async throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 51
        let operations = 20_000
        let comparison = Comparison(rounds: max(1, rounds), operations: operations)

        let baseline = LockedCells()
        baseline.store((any Service).self, SomeService())
        let container = Container {
            Registration((any Service).self, lifetime: .singleton) { _ in SomeService() }
            for index in 0..<100 { Registration(Int.self, qualifier: Slot(index: index), instance: index) }
        }
        _ = try await container.resolve((any Service).self)
        let scope = try await container.openScope("outer").openScope("inner")

        let hit = try await comparison.run {
            for _ in 0..<operations { consume(await baseline.resolve((any Service).self)!) }
        } _: {
            for _ in 0..<operations { consume(try await container.resolve((any Service).self)) }
        }
        report("singleton hit", hit)
        let below = try await comparison.run {
            for _ in 0..<operations { consume(await baseline.resolve((any Service).self)!) }
        } _: {
            for _ in 0..<operations { consume(try await scope.resolve((any Service).self)) }
        }
        report("singleton hit from two scopes below", below)
    }

    /// Keeps the optimiser from removing what is measured.
    @inline(never)
    private static func consume(_ service: any Service) { precondition(service.number == 1) }

    private static func report(_ name: String, _ times: (baseline: Double, subject: Double)) {
        let ratio = (times.subject / times.baseline * 100).rounded() / 100
        print("\(name): \(Int(times.subject)) ns; lock and dictionary: \(Int(times.baseline)) ns; ratio \(ratio)")
    }
}
