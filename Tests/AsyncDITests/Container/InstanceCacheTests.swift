import Testing

@testable import AsyncDI

/// The table of cached instances: each one is found until it is removed, however keys collide.
@Suite(.timeLimit(.minutes(10))) struct InstanceCacheTests {
    /// All have the same hash, or one of few.
    private struct Clash: Hashable, Sendable {
        let number: Int
        let hashes: Int
        func hash(into hasher: inout Hasher) { hasher.combine(number % hashes) }
    }

    private let bindings = (0..<4).map { index in
        let registration = Registration(Int.self, qualifier: "\(index)", lifetime: .multiton) { (_, _: Clash) in index }
        return Binding(registration.blueprint, defaultLifetime: .multiton)
    }

    private func key(_ binding: Int, _ number: Int, hashes: Int) -> CreationKey {
        CreationKey(bindings[binding], Arguments(Clash(number: number, hashes: hashes)))
    }

    @Test(arguments: [1, 3, 1_000]) func `a random history agrees with a dictionary`(hashes: Int) {
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed))
            var cache = InstanceCache()
            var model: [CreationKey: CacheEntry] = [:]
            for step in 0..<300 {
                let key = key(random.below(4), random.below(30), hashes: hashes)
                if random.below(5) < 3 {
                    let kept = CacheEntry(key, cell: StrongCell(step))
                    cache.insert(kept, insteadOf: cache[key])
                    model[key] = kept
                } else if let kept = model.removeValue(forKey: key) {
                    cache.remove(kept)
                    cache.remove(kept)
                }
                cache.checkInvariants()
                #expect(cache.count == model.count)
                #expect(cache.isEmpty == model.isEmpty)
                let found = cache.first(of: key.binding, hash: key.arguments.hash) { $0 === model[key] }
                #expect(found === model[key], "found by its identity, without comparing keys")
                // The lists by registration are built at the first request, and kept up from then on: both are tried.
                guard step > 10 * Int(seed) else { continue }
                let ofBinding = model.values.filter { $0.binding === key.binding }
                #expect(
                    Set(cache.all(of: key.binding).map { ObjectIdentifier($0) })
                        == Set(ofBinding.map { ObjectIdentifier($0) }))
                let others = model.values.filter { $0.binding !== key.binding }
                var asked: [ObjectIdentifier] = []
                let rest = cache.all { binding in
                    asked.append(ObjectIdentifier(binding))
                    return binding !== key.binding
                }
                #expect(Set(rest.map { ObjectIdentifier($0) }) == Set(others.map { ObjectIdentifier($0) }))
                #expect(asked.count <= 64, "many instances of a registration take one check")
            }
            for binding in 0..<4 {
                for number in 0..<30 {
                    let key = self.key(binding, number, hashes: hashes)
                    #expect(cache[key] === model[key])
                    #expect(cache[key].map { $0.key == key } ?? true)
                }
            }
        }
    }

    @Test func `a service without arguments has one entry`() {
        var cache = InstanceCache()
        let keys = bindings.map { CreationKey(withoutArguments: $0) }
        for key in keys { cache.insert(CacheEntry(key, cell: StrongCell(0)), insteadOf: nil) }
        for key in keys {
            #expect(cache[key]?.binding === key.binding)
            #expect(cache[key]?.key == key)
        }
        #expect(cache[self.key(0, 1, hashes: 1)] == nil)
    }

    @Test func `a copy is not changed with the original`() {
        var cache = InstanceCache()
        let kept = CacheEntry(CreationKey(withoutArguments: bindings[0]), cell: StrongCell(0))
        cache.insert(kept, insteadOf: nil)
        let copy = cache
        cache.remove(kept)
        #expect(cache.isEmpty)
        #expect(copy[kept.key] === kept)
    }
}
