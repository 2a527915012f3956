import AsyncDI
import Testing

/// Random worlds whose factories, hooks, bodies and modules call back into their containers in every way.
@Suite(.timeLimit(.minutes(10)))
struct ReentrancyStress {
    @Test(arguments: Mix.all)
    func `user code that calls back neither hangs nor breaks a promise`(mix: Mix) async {
        await forEachSeed(mix.worlds) { seed in
            let plan = Planner.plan(mix, seed: seed)
            let world = ReentrantWorld(plan, seed: seed)
            func account(_ flaw: String) -> String {
                "\(mix.name), seed \(seed): \(flaw)\nin\n\(plan)\nlately:\n\(world.checker.trail.report)"
            }
            let hasEnded = await ends(within: Stress.patience) { await world.round() }
            guard hasEnded else {
                Issue.record("\(account("hangs:\n\(world.roster.report)"))")
                throw Hang()
            }
            let complaints = world.checker.complaints
            try #require(complaints.isEmpty, "\(account(complaints.summary))")
            // Hooks of a graph instance whose requests were all cancelled may come to an end after everything else.
            let isFreed = await eventually {
                world.letGo()
                return world.remains == nil
            }
            try #require(isFreed, "\(account(world.remains ?? ""))")
        }
    }

    private struct Hang: Error {}
}
