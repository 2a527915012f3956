import Testing

@testable import AsyncDI

/// A reference that is given up while other threads may be reading it.
@Suite(.timeLimit(.minutes(10))) struct PassingReferenceTests {
    /// An owner, because the reference cannot be copied.
    private final class Owner: Sendable {
        let reference: PassingReference<Passenger>
        init(_ object: Passenger?) { reference = PassingReference(object) }
    }

    @Test func `an object can be read until it is given up`() {
        let ends = Counter()
        let owner = Owner(Passenger(1, ends))
        #expect(owner.reference.load()?.number == 1)
        #expect(ends.value == 0)
        owner.reference.giveUp()
        #expect(ends.value == 1 && owner.reference.load() == nil)
        owner.reference.giveUp()
        #expect(ends.value == 1)
    }

    @Test func `a reader keeps its object`() {
        let ends = Counter()
        let owner = Owner(Passenger(1, ends))
        var held = owner.reference.load()
        owner.reference.giveUp()
        #expect(ends.value == 0 && held?.number == 1)
        held = nil
        #expect(ends.value == 1)
    }

    @Test func `an object goes with its owner, whether it was given up or not`() {
        let ends = Counter()
        for isGivenUp in [true, false] {
            let owner = Owner(Passenger(1, ends))
            if isGivenUp { owner.reference.giveUp() }
        }
        _ = Owner(nil).reference.load()
        Owner(nil).reference.giveUp()
        #expect(ends.value == 2)
    }

    @Test func `many tasks read an object and give it up, and it ends once`() async {
        let ends = Counter()
        for number in 0..<2_000 {
            let owner = Owner(Passenger(number, ends))
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        for _ in 0..<20 {
                            if let object = owner.reference.load() { #expect(object.number == number) }
                        }
                        if task < 2 { owner.reference.giveUp() }
                    }
                }
            }
            #expect(ends.value == number + 1)
        }
    }
}
