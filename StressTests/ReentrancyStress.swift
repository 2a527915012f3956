import AsyncDI
import Testing

/// Random worlds whose factories, hooks, bodies and modules call back into their containers in every way.
@Suite(.timeLimit(.minutes(10)))
struct ReentrancyStress {
    @Test(arguments: Mix.all)
    func `user code that calls back neither hangs nor breaks a promise`(mix: Mix) async {
        await forEachSeed(200) { seed in
            let plan = Planner.plan(mix, seed: seed)
            let world = ReentrantWorld(plan, seed: seed)
            let hasEnded = await ends(within: Stress.patience) { await world.round() }
            guard hasEnded else {
                Issue.record("\(mix.name), seed \(seed) hangs:\n\(world.roster.report)\nin\n\(plan)")
                throw Hang()
            }
            let complaints = world.checker.complaints
            try #require(complaints.isEmpty, "\(mix.name), seed \(seed): \(complaints.summary)\nin\n\(plan)")
            world.letGo()
            let isFreed = await eventually { world.remains == nil }
            try #require(isFreed, "\(mix.name), seed \(seed): \(world.remains ?? "")\nin\n\(plan)")
        }
    }

    private struct Hang: Error {}
}
