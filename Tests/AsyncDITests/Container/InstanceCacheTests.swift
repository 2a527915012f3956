import Testing

@testable import AsyncDI

/// The table of cached instances: what is put in is found until it is removed, however keys collide.
@Suite(.timeLimit(.minutes(10))) struct InstanceCacheTests {
    /// All have the same hash, or one of few.
    private struct Clash: Hashable, Sendable {
        let number: Int
        let hashes: Int
        func hash(into hasher: inout Hasher) { hasher.combine(number % hashes) }
    }

    private let recipes = (0..<4).map { index in
        let registration = Registration(Int.self, qualifier: "\(index)", lifetime: .multiton) { (_, _: Clash) in index }
        return Recipe(registration.blueprint, defaultLifetime: .multiton)
    }

    private func key(_ recipe: Int, _ number: Int, hashes: Int) -> CreationKey {
        CreationKey(recipes[recipe], Arguments(Clash(number: number, hashes: hashes)))
    }

    @Test(arguments: [1, 3, 1_000]) func `a random history agrees with a dictionary`(hashes: Int) {
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed))
            var cache = InstanceCache()
            var model: [CreationKey: Kept] = [:]
            for step in 0..<300 {
                let key = key(random.below(4), random.below(30), hashes: hashes)
                if random.below(5) < 3 {
                    let kept = Kept(key, cell: StrongCell(step))
                    cache.insert(kept, insteadOf: cache[key])
                    model[key] = kept
                } else if let kept = model.removeValue(forKey: key) {
                    cache.remove(kept)
                    cache.remove(kept)
                }
                cache.checkInvariants()
                #expect(cache.count == model.count)
                #expect(cache.isEmpty == model.isEmpty)
                let found = cache.first(of: key.recipe, hash: key.arguments.hash) { $0 === model[key] }
                #expect(found === model[key], "found by its identity, without comparing keys")
                // The lists by registration are made when somebody asks, and kept up from then on: both are tried.
                guard step > 10 * Int(seed) else { continue }
                let ofRecipe = model.values.filter { $0.recipe === key.recipe }
                #expect(
                    Set(cache.all(of: key.recipe).map { ObjectIdentifier($0) })
                        == Set(ofRecipe.map { ObjectIdentifier($0) }))
            }
            for recipe in 0..<4 {
                for number in 0..<30 {
                    let key = self.key(recipe, number, hashes: hashes)
                    #expect(cache[key] === model[key])
                    #expect(cache[key].map { $0.key == key } ?? true)
                }
            }
        }
    }

    @Test func `a service without arguments has one entry`() {
        var cache = InstanceCache()
        let keys = recipes.map { CreationKey(withoutArguments: $0) }
        for key in keys { cache.insert(Kept(key, cell: StrongCell(0)), insteadOf: nil) }
        for key in keys {
            #expect(cache[key]?.recipe === key.recipe)
            #expect(cache[key]?.key == key)
        }
        #expect(cache[self.key(0, 1, hashes: 1)] == nil)
    }

    @Test func `a copy is not changed with the original`() {
        var cache = InstanceCache()
        let kept = Kept(CreationKey(withoutArguments: recipes[0]), cell: StrongCell(0))
        cache.insert(kept, insteadOf: nil)
        let copy = cache
        cache.remove(kept)
        #expect(cache.isEmpty)
        #expect(copy[kept.key] === kept)
    }
}
