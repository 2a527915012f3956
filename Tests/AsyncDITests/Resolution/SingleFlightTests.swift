import Testing

@testable import AsyncDI

/// The pure decisions of single flight: joining, leaving, ending, invalidation.
@Suite(.timeLimit(.minutes(10))) struct SingleFlightTests {
    private typealias Flights = SingleFlight<String, Int, Int>

    /// One flight, number 0 for key "a", with the given number of waiters, numbered from 1.
    private func flights(waiters: Int, endsWhenAbandoned: Bool = true) -> Flights {
        var flights = Flights()
        flights.start(0, for: "a", waiter: waiters > 0 ? 1 : nil, endsWhenAbandoned: endsWhenAbandoned)
        for waiter in 1..<max(waiters + 1, 2) where waiter > 1 { flights.join(0, waiter: waiter) }
        flights.checkInvariants()
        return flights
    }

    // MARK: Joinable

    @Test func `a key without a flight has none to join`() {
        let flights = flights(waiters: 1)
        #expect(flights.flight(for: "b") == nil)
        #expect(Flights().isEmpty)
        #expect(!flights.isEmpty)
    }

    @Test func `a request for a key in flight joins its flight, and all waiters get its value`() {
        var flights = flights(waiters: 3)
        #expect(flights.flight(for: "a") == 0)
        #expect(flights.entries[0]?.mostWaiters == 3)
        #expect(flights.finish(0, succeeded: true) == .deliver([1, 2, 3], keep: true))
        #expect(flights.isEmpty)
        #expect(flights.flight(for: "a") == nil)
        flights.checkInvariants()
    }

    @Test func `a failure reaches every waiter and is not kept`() {
        var flights = flights(waiters: 2)
        #expect(flights.finish(0, succeeded: false) == .deliver([1, 2], keep: false))
        #expect(flights.isEmpty)
    }

    @Test func `keys have flights of their own`() {
        var flights = flights(waiters: 1)
        flights.start(1, for: "b", waiter: 2, endsWhenAbandoned: true)
        flights.checkInvariants()
        #expect(flights.finish(1, succeeded: true) == .deliver([2], keep: true))
        #expect(flights.flight(for: "a") == 0)
    }

    @Test func `after a flight has ended the key can have another`() {
        var flights = flights(waiters: 1)
        _ = flights.finish(0, succeeded: false)
        flights.start(1, for: "a", waiter: 2, endsWhenAbandoned: true)
        #expect(flights.flight(for: "a") == 1)
        #expect(flights.finish(1, succeeded: true) == .deliver([2], keep: true))
    }

    // MARK: Attended

    private func attended() -> Flights {
        var flights = Flights()
        flights.start(0, for: "a", isAttended: true, endsWhenAbandoned: true)
        flights.checkInvariants()
        return flights
    }

    @Test func `a caller that attends a flight counts as one more waiter`() {
        var flights = attended()
        flights.join(0, waiter: 2)
        #expect(flights[0]?.mostWaiters == 2)
        #expect(flights.leave(0, waiter: 2) == .none, "it is not abandoned")
        let ending = flights.end(0, succeeded: true)
        let (isAttended, isClosed, mostWaiters, action) =
            (ending.isAttended, ending.isClosed, ending.mostWaiters, ending.action)
        #expect(isAttended && !isClosed && mostWaiters == 2)
        #expect(action == .deliver([], keep: true))
    }

    @Test func `a caller that attended a flight and waits for it is a waiter like any other`() {
        var flights = attended()
        flights.join(0, waiter: 2)
        #expect(flights.attendNoMore(0, waitingAs: 1) == .wait)
        flights.checkInvariants()
        #expect(flights[0]?.mostWaiters == 2)
        #expect(flights.leave(0, waiter: 2) == .none)
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
        let isAttended = flights.end(0, succeeded: false).isAttended
        #expect(!isAttended)
    }

    @Test func `a caller that attended a flight does not wait for it after its end`() {
        var flights = attended()
        #expect(flights.finish(0, succeeded: true) == .deliver([], keep: true))
        #expect(flights.attendNoMore(0, waitingAs: 1) == .ended)
        #expect(flights.isEmpty)
    }

    @Test func `a caller that attends a flight when its place closes is told when it asks`() {
        var flights = attended()
        let (waiters, stopped) = flights.close()
        #expect(waiters.isEmpty && stopped == [0])
        flights.checkInvariants()
        var waiting = flights
        #expect(waiting.attendNoMore(0, waitingAs: 1) == .closed)
        #expect(waiting.finish(0, succeeded: true) == .deliver([], keep: false))
        let ending = flights.end(0, succeeded: true)
        let (isAttended, isClosed) = (ending.isAttended, ending.isClosed)
        #expect(isAttended && isClosed)
    }

    // MARK: Many

    @Test func `as many flights as there are keys agree with a list`() throws {
        for seed in 0..<100 {
            var random = SeededRandom(seed: UInt64(seed))
            var flights = Flights()
            var model: [(number: Int, key: String, isInvalid: Bool, waiters: Set<Int>)] = []
            for step in 0..<300 {
                let key = "\(random.below(30))"
                let joinable = model.firstIndex { $0.key == key && !$0.isInvalid }
                try #require(flights.flight(for: key) == joinable.map { model[$0].number }, "seed \(seed)")
                switch random.below(8) {
                case 0:
                    if random.chance(0.5) { flights.invalidate { $0 == key } } else { flights.invalidate(key) }
                    for index in model.indices where model[index].key == key { model[index].isInvalid = true }
                case 1..<4 where !model.isEmpty:
                    let ended = model.remove(at: random.below(model.count))
                    let action = flights.finish(ended.number, succeeded: true)
                    try #require(action == .deliver(WaiterList(ended.waiters), keep: !ended.isInvalid), "seed \(seed)")
                default:
                    if let joinable {
                        flights.join(model[joinable].number, waiter: step)
                        model[joinable].waiters.insert(step)
                    } else {
                        flights.start(step, for: key, waiter: step, endsWhenAbandoned: true)
                        model.append((step, key, false, [step]))
                    }
                }
                flights.checkInvariants()
                try #require(flights.entries.count == model.count, "seed \(seed)")
            }
        }
    }

    @Test func `a flight ends once`() {
        var flights = flights(waiters: 1)
        _ = flights.finish(0, succeeded: true)
        #expect(flights.finish(0, succeeded: true) == .deliver([], keep: false))
    }

    @Test func `the most waiters are the number that waited at once`() {
        var flights = flights(waiters: 2)
        #expect(flights.leave(0, waiter: 1) == .none)
        flights.join(0, waiter: 3)
        #expect(flights.entries[0]?.mostWaiters == 2)
        flights.join(0, waiter: 4)
        #expect(flights.entries[0]?.mostWaiters == 3)
        flights.checkInvariants()
    }

    // MARK: Leaving

    @Test func `a waiter that leaves changes nothing for the others`() {
        var flights = flights(waiters: 2)
        #expect(flights.leave(0, waiter: 1) == .none)
        #expect(flights.flight(for: "a") == 0)
        #expect(flights.finish(0, succeeded: true) == .deliver([2], keep: true))
    }

    @Test func `the last waiter takes the flight with it`() {
        var flights = flights(waiters: 2)
        #expect(flights.leave(0, waiter: 2) == .none)
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
        flights.checkInvariants()
    }

    @Test func `the last waiter does not cancel a flight that finishes when abandoned`() {
        var flights = flights(waiters: 1, endsWhenAbandoned: false)
        #expect(flights.leave(0, waiter: 1) == .none)
        #expect(flights.finish(0, succeeded: true) == .deliver([], keep: true))
    }

    @Test func `a caller that does not wait cannot leave`() {
        var flights = flights(waiters: 1)
        #expect(flights.leave(0, waiter: 9) == .none)
        #expect(flights.leave(7, waiter: 1) == .none)
        _ = flights.finish(0, succeeded: true)
        #expect(flights.leave(0, waiter: 1) == .none)
    }

    @Test func `a waiter leaves once`() {
        var flights = flights(waiters: 1)
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
        #expect(flights.leave(0, waiter: 1) == .none)
    }

    @Test func `a pinned flight is never abandoned`() {
        var flights = flights(waiters: 1)
        flights.pin(0)
        #expect(flights.leave(0, waiter: 1) == .none)
        #expect(flights.finish(0, succeeded: true) == .deliver([], keep: true))
    }

    @Test func `a flight may be given up from a certain moment on`() {
        var flights = flights(waiters: 0, endsWhenAbandoned: false)
        flights.join(0, waiter: 1)
        flights.allowAbandonment(0)
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
    }

    // MARK: Winding down

    @Test func `a request while a flight winds down waits for it`() {
        var flights = flights(waiters: 1)
        _ = flights.leave(0, waiter: 1)
        #expect(flights.flight(for: "a") == 0)
        flights.join(0, waiter: 2)
        #expect(flights.finish(0, succeeded: false) == .retry([2]))
        #expect(flights.isEmpty)
    }

    @Test func `a value that an abandoned flight still delivers is kept and shared`() {
        var flights = flights(waiters: 1)
        _ = flights.leave(0, waiter: 1)
        flights.join(0, waiter: 2)
        #expect(flights.finish(0, succeeded: true) == .deliver([2], keep: true))
    }

    @Test func `a flight is cancelled once`() {
        var flights = flights(waiters: 1)
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
        flights.join(0, waiter: 2)
        #expect(flights.leave(0, waiter: 2) == .none)
    }

    @Test func `a flight that was cancelled for another reason lets its waiters start over`() {
        var flights = flights(waiters: 2)
        flights.abandon(0)
        #expect(flights.finish(0, succeeded: false) == .retry([1, 2]))
    }

    // MARK: Invalidated

    @Test func `no request joins an invalidated flight, and its value goes only to its waiters`() {
        var flights = flights(waiters: 2)
        flights.invalidate { $0 == "a" }
        flights.checkInvariants()
        #expect(flights.flight(for: "a") == nil)
        #expect(flights.finish(0, succeeded: true) == .deliver([1, 2], keep: false))
    }

    @Test func `the successor of an invalidated flight is another one`() {
        var flights = flights(waiters: 1)
        flights.invalidate { _ in true }
        flights.start(1, for: "a", waiter: 2, endsWhenAbandoned: true)
        flights.checkInvariants()
        #expect(flights.finish(0, succeeded: true) == .deliver([1], keep: false))
        #expect(flights.flight(for: "a") == 1)
        #expect(flights.finish(1, succeeded: true) == .deliver([2], keep: true))
    }

    @Test(arguments: [true, false])
    func `an invalidated flight is returned once, if its work has begun`(byKey: Bool) {
        for count in [1, 20] {
            var flights = Flights()
            for flight in 0..<count {
                flights.start(flight, for: "\(flight)", waitsFirst: true, endsWhenAbandoned: true)
            }
            let last = count - 1
            func invalidate() -> Int? {
                defer { flights.checkInvariants() }
                return byKey ? flights.invalidate("\(last)") : flights.invalidate { $0 == "\(last)" }.first
            }
            let waiting = flights
            let mayBegin = flights.begin(last)
            #expect(mayBegin && invalidate() == last && invalidate() == nil)
            flights = waiting
            #expect(invalidate() == nil)
            let mayBeginInvalidated = flights.begin(last)
            #expect(!mayBeginInvalidated && flights[last]?.hasBegun == false)
            #expect(flights.finish(last, succeeded: false) == .deliver([], keep: false))
            let mayBeginEnded = flights.begin(last)
            #expect(!mayBeginEnded)
        }
    }

    @Test func `only the keys meant are invalidated`() {
        var flights = flights(waiters: 1)
        flights.start(1, for: "b", waiter: 2, endsWhenAbandoned: true)
        flights.invalidate { $0 == "b" }
        #expect(flights.flight(for: "a") == 0)
        #expect(flights.flight(for: "b") == nil)
        flights.checkInvariants()
    }

    @Test func `an invalidated flight that is abandoned is cancelled too`() {
        var flights = flights(waiters: 1)
        flights.invalidate { _ in true }
        #expect(flights.leave(0, waiter: 1) == .cancelFlight)
        #expect(flights.finish(0, succeeded: false) == .retry([]))
    }

    // MARK: Closing

    @Test func `a place that closes gives up every waiter and every flight`() {
        var flights = flights(waiters: 2)
        flights.start(1, for: "b", waiter: 3, endsWhenAbandoned: false)
        flights.invalidate { $0 == "b" }
        flights.start(2, for: "b", waiter: nil, endsWhenAbandoned: true)
        let closed = flights.close()
        flights.checkInvariants()
        #expect(closed.waiters.sorted() == [1, 2, 3])
        #expect(closed.flights.sorted() == [0, 1, 2])
        #expect(flights.flight(for: "a") == nil)
        #expect(flights.flight(for: "b") == nil)
        #expect(!flights.isEmpty, "the creations still run")
        for flight in 0..<3 { #expect(flights.finish(flight, succeeded: true) == .deliver([], keep: false)) }
        #expect(flights.isEmpty)
    }
}
