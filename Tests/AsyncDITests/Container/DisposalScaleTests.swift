import AsyncDI
import Testing

/// So many instances that a look at each pair of them would take longer than the time limit.
@Suite(.timeLimit(.minutes(10))) struct DisposalScaleTests {
    private struct Tenant: Sendable { let container: Container }

    @Test func `thousands of instances whose hooks dispose a container of their own are reset`() async throws {
        let closed = Counter()
        let container = Container {
            Registration(Tenant.self, lifetime: .multiton) { (_, _: Int) in
                let tenant = Container()
                try await tenant.openScope("session")
                return Tenant(container: tenant)
            }
            .onDispose { tenant in
                try await tenant.container.dispose()
                closed.increment()
            }
        }
        let count = 12_000
        for number in 0..<count { _ = try await container.resolve(Tenant.self, arguments: number) }
        try await container.reset(.multiton)
        #expect(closed.value == count)
    }
}
