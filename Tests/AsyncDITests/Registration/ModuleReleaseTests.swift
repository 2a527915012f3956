import Testing

@testable import AsyncDI

/// A module that holds an object, as a configuration that was read for it.
private struct Holding: Module {
    let passenger: Passenger
    let loading: @Sendable (Int) async throws -> Void

    var registrations: Registrations {
        Registration(Int.self, qualifier: "\(passenger.number)", lifetime: .singleton) { _ in 1 }
    }

    func loaded(_ resolver: Resolver) async throws { try await loading(passenger.number) }
}

/// A module and its objects are released when it is loaded, although its container lives on.
@Suite(.timeLimit(.minutes(10))) struct ModuleReleaseTests {
    private let ends = Counter()

    private func modules(
        _ numbers: Range<Int>, loading: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) -> [any Module] {
        numbers.map { Holding(passenger: Passenger($0, ends), loading: loading) }
    }

    @Test(arguments: [1, 2, 5])
    func `each module is released after its loaded, and before the next one's`(count: Int) async throws {
        let container = Container { [ends] in
            modules(0..<count) { number in #expect(ends.value == number) }
        }
        #expect(ends.value == 0)
        try await container.start()
        #expect(ends.value == count)
        try await container.register(Holding(passenger: Passenger(count, ends)) { [ends] in #expect(ends.value == $0) })
        #expect(ends.value == count + 1)
        #expect(try await container.resolve(Int.self, qualifier: "\(count)") == 1)
    }

    @Test func `a module whose loaded has failed is kept for the next attempt, and released then`() async throws {
        let attempts = Counter()
        let container = Container {
            modules(0..<2) { number in if number == 1, attempts.increment() == 1 { throw TestError() } }
        }
        await #expect(throws: TestError.self) { try await container.start() }
        #expect(ends.value == 1)
        _ = try await container.resolve(Int.self, qualifier: "0")
        #expect(ends.value == 2 && attempts.value == 2)
    }
}
