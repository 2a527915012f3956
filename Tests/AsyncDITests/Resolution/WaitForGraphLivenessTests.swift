import Testing

@testable import AsyncDI

/// Random dependency graphs run to their end: never stuck, never refused without a cycle of factories, nothing left
/// behind.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphLivenessTests {
    /// Runs simulations with a number of seeds, and adds up their results.
    @discardableResult
    private func simulate(
        _ seeds: Int, _ options: WaitSimulation.Options = WaitSimulation.Options(),
        at location: SourceLocation = #_sourceLocation
    ) throws -> (cycles: Int, early: Int, releases: Int, largestGroup: Int) {
        var total = (cycles: 0, early: 0, releases: 0, largestGroup: 0)
        for seed in 0..<seeds {
            var simulation = WaitSimulation(seed: UInt64(seed), options: options)
            do {
                try simulation.run()
            } catch {
                try #require(Bool(false), "seed \(seed): \(error)\n\(simulation.story)", sourceLocation: location)
            }
            total.cycles += simulation.cycles
            total.early += simulation.earlyAnswers
            total.releases += simulation.releases
            total.largestGroup = max(total.largestGroup, simulation.largestGroup)
        }
        return total
    }

    @Test func `every graph comes to its end`() throws {
        let total = try simulate(600)
        #expect(total.cycles > 100 && total.early > 100 && total.releases > 100 && total.largestGroup > 4)
    }

    @Test func `without factories in a cycle nothing is refused, whatever the hooks need`() throws {
        let total = try simulate(600, .init(edgeChance: 0.4, hookChance: 0.9, hasAcyclicFactories: true))
        #expect(total.cycles == 0)
        #expect(total.early > 100 && total.releases > 100 && total.largestGroup > 5)
    }

    @Test func `without hooks nothing is given early`() throws {
        let total = try simulate(500, .init(hookChance: 0))
        #expect(total.early == 0 && total.releases == 0 && total.largestGroup == 1)
        #expect(total.cycles > 100)
    }

    @Test func `large sparse graphs come to their ends`() throws {
        try simulate(200, .init(mostNodes: 30, edgeChance: 0.05))
        try simulate(200, .init(mostNodes: 30, edgeChance: 0.05, hasAcyclicFactories: true))
    }

    @Test func `small dense graphs come to their ends`() throws {
        try simulate(600, .init(mostNodes: 3, edgeChance: 0.7, inlineChance: 0.4))
    }

    @Test func `creations in their requesters' tasks come to their ends`() throws {
        try simulate(500, .init(edgeChance: 0.35, inlineChance: 0.8))
    }

    @Test func `graphs with cancelled requests come to their ends`() throws {
        try simulate(600, .init(cancelChance: 0.1))
    }

    @Test func `graphs with failures come to their ends`() throws {
        try simulate(600, .init(failureChance: 0.3))
    }

    @Test func `graphs with requests that outlive their creations come to their ends`() throws {
        try simulate(600, .init(looseChance: 0.3))
    }

    @Test func `graphs with everything at once come to their ends`() throws {
        try simulate(
            2_500,
            .init(edgeChance: 0.35, inlineChance: 0.4, failureChance: 0.15, cancelChance: 0.05, looseChance: 0.15))
    }

    @Test func `disposals of containers end after the creations that they wait for`() throws {
        let total = try simulate(500, .init(disposedChance: 0.4))
        #expect(total.cycles > 100 && total.early > 100 && total.releases > 100)
        try simulate(250, .init(inlineChance: 0, disposedChance: 0.3, containers: 1))
        try simulate(250, .init(mostNodes: 4, edgeChance: 0.5, hookChance: 0.9, disposedChance: 0.5, containers: 1))
    }

    @Test func `disposals come to their ends beside failures and cancelled requests`() throws {
        try simulate(500, .init(failureChance: 0.15, cancelChance: 0.05, disposedChance: 0.4))
    }
}
