import Testing

@testable import AsyncDI

/// So many contributions that a look at each pair of them would take longer than the time limit.
@Suite(.timeLimit(.minutes(10))) struct ContributionScaleTests {
    @Test func `contributions under many keys are taken back one by one`() async throws {
        let count = 40_000
        let container = Container {
            for key in 0..<count { Registration(Thing.self) { _ in Thing(key) }.intoMany(key: key) }
        }
        for key in 0..<count {
            if await !container.unregister(Thing.self, contributedAs: key) { Issue.record("no contribution \(key)") }
        }
        #expect(await !container.unregister(Thing.self, contributedAs: 0))
        #expect(container.core.withState { $0.registrations.isEmpty })
    }
}
