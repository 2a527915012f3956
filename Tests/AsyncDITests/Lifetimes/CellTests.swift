import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private final class Dog: Pet {}
private struct Fish: Pet { let number: Int }

/// Typed instances behind an erased cell.
@Suite(.timeLimit(.minutes(10))) struct CellTests {
    @Test func `a cell gives back its instance`() {
        let dog = Dog()
        let cell: Cell = StrongCell(dog)
        #expect(cell.value(as: Dog.self) === dog)
        #expect(cell.load(as: Dog.self) === dog)
        #expect(cell.anyValue as? Dog === dog)
        #expect(!cell.isHeldWeakly)
        #expect((StrongCell([1, 2]) as Cell).value(as: [Int].self) == [1, 2])
    }

    @Test func `a cell of any P gives back any P`() {
        let pet: any Pet = Fish(number: 2)
        let cell: Cell = StrongCell<any Pet>(pet)
        #expect((cell.value(as: (any Pet).self) as? Fish)?.number == 2)
        #expect((cell.anyValue as? any Pet as? Fish)?.number == 2)
    }

    @Test func `a cell holds its instance as long as it lives`() {
        let living = Locked(0)
        do {
            let cell: Cell = StrongCell(Mortal(1, counting: living))
            #expect(cell.strengthened() === cell)
            #expect(living.withLock { $0 } == 1)
        }
        #expect(living.withLock { $0 } == 0)
    }

    @Test func `a weak cell has its instance as long as another owner retains it`() throws {
        let living = Locked(0)
        var object: Mortal? = Mortal(1, counting: living)
        let cell = try #require((StrongCell(object!) as Cell).weakened())
        #expect(cell.isHeldWeakly)
        #expect(cell.weakened() === cell)
        #expect(cell.load(as: Mortal.self) === object)
        #expect(cell.anyValue as? Mortal === object)
        var strong = cell.strengthened()
        #expect(strong?.isHeldWeakly == false)
        object = nil
        #expect(living.withLock { $0 } == 1, "the strengthened cell holds it")
        #expect(strong?.value(as: Mortal.self).number == 1)
        strong = nil
        #expect(living.withLock { $0 } == 0)
        #expect(cell.load(as: Mortal.self) == nil)
        #expect(cell.anyValue == nil)
        #expect(cell.strengthened() == nil)
    }

    @Test func `values have no weak form`() {
        #expect((StrongCell(1) as Cell).weakened() == nil)
        #expect((StrongCell("text") as Cell).weakened() == nil)
        #expect((StrongCell(Fish(number: 1)) as Cell).weakened() == nil)
        #expect((StrongCell<any Pet>(Fish(number: 1)) as Cell).weakened() == nil)
        #expect((StrongCell([Dog()]) as Cell).weakened() == nil)
    }

    @Test func `an object behind any P has a weak form`() throws {
        var pet: (any Pet)? = Dog()
        let cell = try #require((StrongCell<any Pet>(pet!) as Cell).weakened())
        #expect(cell.load(as: (any Pet).self) as? Dog === pet as? Dog)
        pet = nil
        #expect(cell.load(as: (any Pet).self) == nil)
    }

    @Test func `a cell gives back an optional object, and nil has no weak form`() throws {
        let dog = Dog()
        let cell: Cell = StrongCell<Dog?>(dog)
        #expect(cell.value(as: Dog?.self) === dog)
        #expect((StrongCell<Dog?>(nil) as Cell).weakened() == nil)
    }

    @Test func `a stamp is kept`() {
        let cell: Cell = StrongCell(1)
        #expect(cell.stamp == 0)
        cell.stamp(42)
        #expect(cell.stamp == 42)
        #expect(!cell.isSharedBelow)
    }

    @Test func `a weak instance that ends while other threads load it is given whole or not at all`() async throws {
        for round in 0..<100 {
            let living = Locked(0)
            let object = Locked<Mortal?>(Mortal(round, counting: living))
            let cell = try #require((StrongCell(object.withLock { $0! }) as Cell).weakened())
            let wrong = Counter()
            await onThreads(4) { thread in
                if thread == 0 {
                    let last = object.withLock { object in
                        defer { object = nil }
                        return object
                    }
                    withExtendedLifetime(last) {}
                } else {
                    for _ in 0..<50 {
                        guard let seen = cell.load(as: Mortal.self) else { break }
                        if !seen.isAlive || seen.number != round { wrong.increment() }
                    }
                }
            }
            #expect(wrong.value == 0)
            #expect(living.withLock { $0 } == 0)
        }
    }
}
