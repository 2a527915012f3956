import Testing

@testable import AsyncDI

/// Any order of the events of single flight, compared with its specification.
@Suite(.timeLimit(.minutes(10))) struct SingleFlightModelTests {
    private typealias Flights = SingleFlight<String, Int, Int>

    /// The specification of single flight, in the fewest words: a list of flights, searched from its start each time.
    private struct Model {
        struct Flight {
            let number: Int
            let key: String
            var waiters: Set<Int> = []
            var endsWhenAbandoned: Bool
            var isCancelled = false
            var isInvalid = false
        }

        var flights: [Flight] = []

        func index(_ number: Int) -> Int? { flights.firstIndex { $0.number == number } }
        func joinable(_ key: String) -> Int? { flights.first { $0.key == key && !$0.isInvalid }?.number }

        mutating func leave(_ number: Int, waiter: Int) -> Flights.LeaveAction {
            guard let index = index(number), flights[index].waiters.remove(waiter) != nil else { return .none }
            let flight = flights[index]
            if !flight.waiters.isEmpty || !flight.endsWhenAbandoned || flight.isCancelled { return .none }
            flights[index].isCancelled = true
            return .cancelFlight
        }

        mutating func finish(_ number: Int, succeeded: Bool) -> Flights.FinishAction {
            guard let index = index(number) else { return .deliver([], keep: false) }
            let flight = flights.remove(at: index)
            if flight.isCancelled && !succeeded { return .retry(WaiterList(flight.waiters)) }
            return .deliver(WaiterList(flight.waiters), keep: succeeded && !flight.isInvalid)
        }
    }

    @Test func `random events agree with a list of flights`() throws {
        for seed in 0..<3_000 {
            try runRandomEvents(seed: UInt64(seed))
        }
    }

    private func runRandomEvents(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var flights = Flights()
        var model = Model()
        var next = 0
        for _ in 0..<60 {
            let key = random.pick(["a", "b", "c"])
            let number = random.below(next + 1)
            switch random.below(20) {
            case 0..<8:  // Asks: joins, or begins.
                next += 1
                try #require(flights.flight(for: key) == model.joinable(key), "seed \(seed)")
                if let flight = model.joinable(key), let index = model.index(flight) {
                    flights.join(flight, waiter: next)
                    model.flights[index].waiters.insert(next)
                } else {
                    let waiter = random.chance(0.8) ? next : nil
                    let ends = random.chance(0.7)
                    flights.start(next, for: key, waiter: waiter, endsWhenAbandoned: ends)
                    model.flights.append(
                        .init(number: next, key: key, waiters: waiter.map { [$0] } ?? [], endsWhenAbandoned: ends))
                }
            case 8..<13:
                let waiter = random.below(next + 1)
                let flight = model.flights.first { $0.waiters.contains(waiter) }?.number ?? number
                let expected = model.leave(flight, waiter: waiter)
                try #require(flights.leave(flight, waiter: waiter) == expected, "seed \(seed)")
            case 13..<16:
                let flight = random.chance(0.9) ? model.flights.first?.number ?? number : number
                let succeeded = random.chance(0.5)
                let expected = model.finish(flight, succeeded: succeeded)
                try #require(flights.finish(flight, succeeded: succeeded) == expected, "seed \(seed)")
            case 16:
                flights.pin(number)
                if let index = model.index(number) { model.flights[index].endsWhenAbandoned = false }
            case 17:
                flights.allowAbandonment(number)
                if let index = model.index(number) { model.flights[index].endsWhenAbandoned = true }
            case 18:
                flights.abandon(number)
                if let index = model.index(number) { model.flights[index].isCancelled = true }
            default:
                if random.chance(0.5) { flights.invalidate { $0 == key } } else { flights.invalidate(key) }
                for index in model.flights.indices where model.flights[index].key == key {
                    model.flights[index].isInvalid = true
                }
            }
            flights.checkInvariants()
            try #require(flights.isEmpty == model.flights.isEmpty, "seed \(seed)")
        }
        let closed = flights.close()
        flights.checkInvariants()
        try #require(Set(closed.flights) == Set(model.flights.map(\.number)), "seed \(seed)")
        try #require(closed.waiters.sorted() == model.flights.flatMap(\.waiters).sorted(), "seed \(seed)")
        for flight in closed.flights { _ = flights.finish(flight, succeeded: random.chance(0.5)) }
        try #require(flights.isEmpty, "seed \(seed)")
        flights.checkInvariants()
    }
}
