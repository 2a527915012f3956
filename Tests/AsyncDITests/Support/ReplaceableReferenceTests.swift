import Testing

@testable import AsyncDI

/// A reference that is replaced while other threads may be reading it.
@Suite(.timeLimit(.minutes(10))) struct ReplaceableReferenceTests {
    private final class Owner: Sendable {
        let reference: ReplaceableReference<Passenger>
        init(_ object: Passenger?) { reference = ReplaceableReference(object) }
        deinit { _ = reference.takeAtEnd() }
    }

    @Test(arguments: [false, true], [false, true])
    func `an object is read until it is replaced, and goes then`(hasSecond: Bool, hasFirst: Bool) {
        let ends = Counter()
        do {
            let owner = Owner(hasFirst ? Passenger(1, ends) : nil)
            #expect(owner.reference.load()?.number == (hasFirst ? 1 : nil))
            owner.reference.replace(with: hasSecond ? Passenger(2, ends) : nil)
            #expect(ends.value == (hasFirst ? 1 : 0))
            #expect(owner.reference.load()?.number == (hasSecond ? 2 : nil))
        }
        #expect(ends.value == (hasFirst ? 1 : 0) + (hasSecond ? 1 : 0))
    }

    @Test func `an object that is not replaced goes with its owner`() {
        let ends = Counter()
        _ = Owner(Passenger(1, ends)).reference.load()
        #expect(ends.value == 1)
    }

    @Test func `many tasks read while one replaces, and each object ends once`() async {
        let ends = Counter()
        for number in 0..<2_000 {
            let owner = Owner(Passenger(number, ends))
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        for _ in 0..<20 {
                            #expect(owner.reference.load().map { abs($0.number) == number } == true)
                        }
                        if task == 0 { owner.reference.replace(with: Passenger(-number, ends)) }
                        for _ in 0..<20 where task == 0 { #expect(owner.reference.load()?.number == -number) }
                    }
                }
            }
            #expect(ends.value == number * 2 + 1)
            _ = consume owner
            #expect(ends.value == number * 2 + 2)
        }
    }
}
