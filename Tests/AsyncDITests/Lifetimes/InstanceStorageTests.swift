import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private final class Dog: Pet {}
private struct Fish: Pet { let number: Int }

/// The storages that come with the library.
@Suite(.timeLimit(.minutes(10))) struct InstanceStorageTests {
    // MARK: Strong

    @Test func `a strong storage keeps its instance until it is cleared`() {
        let living = Locked(0)
        let storage = StrongStorage()
        #expect(storage.load() == nil)
        storage.store(Mortal(1, counting: living))
        #expect((storage.load() as? Mortal)?.number == 1)
        #expect(living.withLock { $0 } == 1)
        storage.store(Mortal(2, counting: living))
        #expect((storage.load() as? Mortal)?.number == 2)
        #expect(living.withLock { $0 } == 1, "the old one is gone")
        storage.clear()
        #expect(storage.load() == nil)
        #expect(living.withLock { $0 } == 0)
    }

    @Test func `a strong storage keeps values`() {
        let storage = StrongStorage()
        storage.store(Fish(number: 4))
        #expect((storage.load() as? Fish)?.number == 4)
    }

    @Test func `an instance whose end uses the storage again does no harm`() {
        final class Owner: Sendable {
            let storage: StrongStorage
            init(_ storage: StrongStorage) { self.storage = storage }
            deinit { if storage.load() == nil { storage.store(7) } }
        }
        let storage = StrongStorage()
        storage.store(Owner(storage))
        storage.clear()
        #expect(storage.load() as? Int == 7)
    }

    // MARK: Weak

    @Test func `a weak storage has its instance as long as another owner retains it`() {
        let storage = WeakStorage()
        var dog: Dog? = Dog()
        storage.store(dog!)
        #expect(storage.load() as? Dog === dog)
        dog = nil
        #expect(storage.load() == nil)
    }

    @Test func `a weak storage forgets when it is cleared`() {
        let storage = WeakStorage()
        let dog = Dog()
        storage.store(dog)
        storage.clear()
        #expect(storage.load() == nil)
        withExtendedLifetime(dog) {}
    }

    @Test func `a weak storage keeps no value, also where it is erased`() {
        let storage = WeakStorage()
        storage.store(Fish(number: 1))
        #expect(storage.load() == nil)
        storage.store(Fish(number: 1) as any Pet)
        #expect(storage.load() == nil)
        storage.store("a string")
        #expect(storage.load() == nil)
        storage.store([Dog()])
        #expect(storage.load() == nil)
    }

    @Test func `a value takes the place of the object before it`() {
        let storage = WeakStorage()
        let dog = Dog()
        storage.store(dog)
        storage.store(1)
        #expect(storage.load() == nil)
        withExtendedLifetime(dog) {}
    }

    @Test func `an object is found again as the protocol it was stored as`() {
        let storage = WeakStorage()
        let pet: any Pet = Dog()
        storage.store(pet)
        #expect(storage.load() as? any Pet as? Dog === pet as? Dog)
    }

    // MARK: Composite

    @Test func `a composite stores into all and loads from the first storage that has an instance`() {
        let (first, second) = (StrongStorage(), StrongStorage())
        let storage = CompositeStorage([first, second])
        #expect(storage.load() == nil)
        storage.store(1)
        #expect(first.load() as? Int == 1 && second.load() as? Int == 1)
        second.store(2)
        #expect(storage.load() as? Int == 1)
        first.clear()
        #expect(storage.load() as? Int == 2)
        storage.store(3)
        storage.clear()
        #expect(first.load() == nil && second.load() == nil && storage.load() == nil)
    }

    @Test func `composites nest, and an empty one keeps nothing`() {
        let inner = StrongStorage()
        let storage = CompositeStorage([CompositeStorage([]), CompositeStorage([WeakStorage(), inner])])
        storage.store(1)
        #expect(inner.load() as? Int == 1)
        #expect(storage.load() as? Int == 1)
        #expect(CompositeStorage([]).load() == nil)
    }

    @Test func `weak and strong together keep an instance as long as either does`() {
        let strong = StrongStorage()
        let storage = CompositeStorage([WeakStorage(), strong])
        var dog: Dog? = Dog()
        storage.store(dog!)
        weak let seen = dog
        dog = nil
        #expect(storage.load() != nil && seen != nil)
        strong.clear()
        #expect(storage.load() == nil && seen == nil)
    }

    // MARK: From any thread

    @Test func `storages may be used from many threads`() async {
        let living = Locked(0)
        let storages: [any InstanceStorage] = [
            StrongStorage(), WeakStorage(), CompositeStorage([WeakStorage(), StrongStorage()]),
        ]
        let dead = Counter()
        await onThreads(8) { thread in
            for round in 0..<1_000 {
                let storage = storages[round % 3]
                switch (thread + round) % 4 {
                case 0: storage.store(Mortal(round, counting: living))
                case 1: storage.clear()
                default: if (storage.load() as? Mortal)?.isAlive == false { dead.increment() }
                }
            }
        }
        for storage in storages { storage.clear() }
        #expect(dead.value == 0)
        #expect(living.withLock { $0 } == 0)
    }
}
