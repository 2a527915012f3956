import AsyncDI
import Testing

// The code of Guides/CheckingTheWiring.md, but for the check itself, which is in Tests/WiringApplications.

private struct Ledger: Sendable {}
private struct Watch: Sendable {}
private struct Till: Sendable {
    let ledger: Ledger
    let clock: Watch
    let isOpen: Bool
}
private struct Address: Sendable {}
private struct Client: Sendable {
    let address: Address
    let clock: Watch
}
private struct Request: Sendable {
    let tenant: String
}
private actor Pool {}
private struct UnitOfWork: Sendable {
    let pool: Pool
    let ledger: Ledger
}
private struct Receipt: Sendable {
    let number: Int
    let clock: Watch
}

private struct Invoice: Sendable {
    let address: Address
    let number: Int
    let page: Int
}

private actor Drawer {
    static func open() async throws -> Drawer { Drawer() }
}

private func makeContainer() -> Container {
    Container(name: "shop") {
        Registration(instance: Watch())
        Registration(instance: Ledger())
        Registration(Address.self, qualifier: "billing", instance: Address())
        Registration(expected: Request.self)
        Registration(Pool.self, lifetime: .multiton) { (_, tenant: String) in Pool() }.dependencies()
        Registration(using: { (ledger: Ledger, clock: Watch) in Till(ledger: ledger, clock: clock, isOpen: true) })
        Registration(using: Client.init(address:clock:), with: .qualified("billing"), .resolved)
        Registration(
            using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), .resolved,
            lifetime: .scoped)
        Registration(using: { try await Drawer.open() }, lifetime: .singleton)
        Registration(using: Receipt.init(number:clock:), taking: Int.self)
        Registration(using: Invoice.init(address:number:page:), with: .qualified("billing"), .argument, .argument)
    }
}

@Suite(.timeLimit(.minutes(10))) struct WiringGuideTests {
    @Test func `nothing of the guide's container is opaque or missing`() async throws {
        let report = try await makeContainer().validationReport()
        #expect(report.problems.isEmpty && report.opaque.isEmpty, "\(report)")
        let scope = try await makeContainer().openScope { Registration(expected: Request.self) }
        #expect(try await scope.validationReport(resolving: [UnitOfWork.self]).problems.isEmpty)
    }

    @Test func `the guide's registrations are resolved`() async throws {
        let container = makeContainer()
        #expect(try await container.resolve(Till.self).isOpen)
        #expect(try await container.resolve(Receipt.self, arguments: 7).number == 7)
        #expect(try await container.resolve(Invoice.self, arguments: 7, 2).page == 2)
        _ = try await container.resolve(Client.self)
        _ = try await container.resolve(Drawer.self)
        try await container.withScope {
            Registration(instance: Request(tenant: "acme"))
        } operation: { _ in
            _ = try await container.resolve(UnitOfWork.self)
        }
    }

    @Test func `the contract is kept`() async throws {
        let contract = try await makeContainer().declaredGraph().contract

        let graph = try await makeContainer().declaredGraph()
        let difference = graph.difference(from: contract)
        #expect(difference.isEmpty, "\(difference)")
        #expect(try graph.unreachable(fromServices: [Till.self]).nodes.map(\.service).contains("Client"))
        #expect(graph.outlivingUsers.nodes.map(\.service) == ["Pool(String)"])
    }
}
