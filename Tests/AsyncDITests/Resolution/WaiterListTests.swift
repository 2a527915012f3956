import Testing

@testable import AsyncDI

/// The waiters in the order of arrival, however many have left.
@Suite(.timeLimit(.minutes(10))) struct WaiterListTests {
    @Test func `waiters come in the order of their arrival`() {
        var list = WaiterList<Int>()
        #expect(list.isEmpty)
        for waiter in 0..<100 { list.append(waiter) }
        #expect(Array(list) == Array(0..<100))
        #expect(list.count == 100)
    }

    @Test func `an absent waiter does not leave, and no waiter leaves twice`() {
        for count in [0, 1, 16, 17, 100] {
            var list = WaiterList(0..<count)
            let isThere = list.remove(-1)
            #expect(!isThere)
            for waiter in 0..<count {
                let (first, second) = (list.remove(waiter), list.remove(waiter))
                #expect(first && !second)
                list.checkInvariants()
            }
            #expect(list.isEmpty)
        }
    }

    @Test func `lists of the same waiters are equal, whatever the order`() {
        #expect(WaiterList([1, 2, 3]) == [3, 2, 1])
        #expect(WaiterList([1, 2]) != [1, 3])
        #expect(WaiterList([1, 2]) != [1])
    }

    @Test func `a random history agrees with an array`() {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            var list = WaiterList<Int>()
            var model: [Int] = []
            var next = 0
            // Longer lists in some, so that leaving is by the index, and shorter ones again after that.
            let most = 8 + random.below(80)
            for _ in 0..<400 {
                if random.below(100) < (model.count < most ? 70 : 30) {
                    list.append(next)
                    model.append(next)
                    next += 1
                } else if let waiter = model.isEmpty ? nil : model[random.below(model.count)] {
                    let wasThere = list.remove(waiter)
                    #expect(wasThere)
                    model.removeAll { $0 == waiter }
                }
                list.checkInvariants()
            }
            #expect(Array(list) == model, "seed \(seed)")
        }
    }
}
