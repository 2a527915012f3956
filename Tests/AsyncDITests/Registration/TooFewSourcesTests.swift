import Testing

@testable import AsyncDI

private struct Ledger: Sendable {}
private struct Rate: Sendable {}
private struct Bill: Sendable {
    let ledger: Ledger
    let rate: Rate
    var note: String?

    init(ledger: Ledger, rate: Rate) { (self.ledger, self.rate) = (ledger, rate) }
    init(ledger: Ledger, rate: Rate, note: String) { (self.ledger, self.rate, self.note) = (ledger, rate, note) }
    init(pair: (Ledger, Rate)) { (ledger, rate) = pair }
}

/// A requirement hides the compiler's warnings about the mistakes.
private protocol Mistakes: Sendable {
    var registrations: [Registration<Bill>] { get }
    func register(in container: Container) async throws
}

private struct TooFew: Mistakes {
    @available(*, deprecated)
    var registrations: [Registration<Bill>] {
        [
            Registration(using: Bill.init(ledger:rate:), with: .resolved),
            Registration(using: Bill.init(ledger:rate:), with: .leased(by: String.self), lifetime: .scoped),
            Registration(using: { (ledger: Ledger, rate: Rate) in Bill(ledger: ledger, rate: rate) }, with: .resolved),
        ]
    }

    @available(*, deprecated)
    func register(in container: Container) async throws {
        try await container.register(using: Bill.init(ledger:rate:note:), with: .qualified("a"))
    }
}

/// A single source for an initializer with several parameters, which the compiler takes for one tuple.
@Suite(.timeLimit(.minutes(10))) struct TooFewSourcesTests {
    private let mistakes: any Mistakes = TooFew()

    @Test func `too few sources are an invalid registration`() async throws {
        for registration in mistakes.registrations {
            let container = Container { registration }
            let problems = try await container.validationReport().problems
            #expect(problems.map(\.code) == [.invalidRegistration])
            #expect(
                problems.first?.message == "the initializer of Bill has 2 parameters, but with: has 1 source.")
            await expect(.invalidRegistration) { try await container.resolve(Bill.self) }
            await expect(.invalidRegistration) { try await container.start() }
        }
        let error = await expect(.invalidRegistration) { try await mistakes.register(in: Container()) }
        #expect(error?.message == "the initializer of Bill has 3 parameters, but with: has 1 source.")
    }

    @Test func `a parameter may be a tuple`() async throws {
        let container = Container {
            Registration((Ledger, Rate).self) { _ in (Ledger(), Rate()) }
            Registration(using: Bill.init(pair:), with: .resolved)
        }
        try await container.validate()
        _ = try await container.resolve(Bill.self)
    }
}
