import Testing

@testable import AsyncDI

/// So many decorations that a look at each pair of them, or of their registrations, would take longer than the time
/// limit.
@Suite(.timeLimit(.minutes(10))) struct DecorationScaleTests {
    @Test func `registrations under many qualifiers are decorated, and removed, one by one`() async throws {
        let count = 40_000
        let container = Container {
            for number in 0..<count { Registration(Thing.self, qualifier: .key(number)) { _ in Thing(number) } }
        }
        for number in 0..<count {
            try await container.decorate(Thing.self, qualifier: .key(number)) { _, inner in Thing(inner.number + 1) }
        }
        #expect(try await container.resolve(Thing.self, qualifier: .key(7)).number == 8)
        for number in 0..<count {
            if await !container.unregister(Thing.self, qualifier: .key(number)) { Issue.record("no \(number)") }
        }
        #expect(container.core.withState { $0.registrations.isEmpty })
    }
}
