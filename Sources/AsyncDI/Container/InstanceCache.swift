/// The cached instances of one container, found by their keys.
///
/// A pure value: open addressing over references, so that an instance takes little more than itself. What is removed
/// leaves no mark: those behind it move up.
struct InstanceCache {
    private var places: [Kept?] = []
    private(set) var count = 0
    /// The instances of each registration with arguments, once somebody has asked for those of one where there are
    /// many.
    private var byRecipe: [ObjectIdentifier: [ObjectIdentifier: Kept]]?
    private static let fewest = 64

    var isEmpty: Bool { count == 0 }
    /// Every instance, in no particular order.
    var all: [Kept] { isEmpty ? [] : places.compactMap { $0 } }
    func forEach(_ body: (Kept) -> Void) { for case let kept? in places { body(kept) } }

    subscript(key: CreationKey) -> Kept? {
        if isEmpty { return nil }
        var index = home(key.recipe, key.arguments.hash)
        while let kept = places[index] {
            if kept.recipe === key.recipe, key.arguments.isEqual(to: kept.arguments, hash: kept.hash) { return kept }
            index = next(index)
        }
        return nil
    }

    /// The instance of a registration that is meant, among those whose arguments have this hash.
    func first(of recipe: Recipe, hash: UInt32, where isMeant: (Kept) -> Bool) -> Kept? {
        if isEmpty { return nil }
        var index = home(recipe, hash)
        while let kept = places[index] {
            if kept.recipe === recipe, kept.hash == hash, isMeant(kept) { return kept }
            index = next(index)
        }
        return nil
    }

    /// The instances of a registration with arguments.
    mutating func all(of recipe: Recipe) -> [Kept] {
        if byRecipe == nil {
            let all = all
            if all.count <= Self.fewest { return all.filter { $0.recipe === recipe } }
            byRecipe = [:]
            for kept in all { list(kept) }
        }
        return byRecipe?[ObjectIdentifier(recipe)].map { Array($0.values) } ?? []
    }

    /// Puts an instance in the place of one that has the same key; nil when there is none.
    mutating func insert(_ new: Kept, insteadOf old: Kept?) {
        if let old, let index = index(of: old) {
            unlist(old)
            list(new)
            places[index] = new
            return
        }
        if (count + 1) * 4 > places.count * 3 { grow() }
        put(new)
        list(new)
        count += 1
    }

    /// Removes an instance, if it is there.
    mutating func remove(_ kept: Kept) {
        guard var gap = index(of: kept) else { return }
        places[gap] = nil
        unlist(kept)
        count -= 1
        var index = next(gap)
        while let other = places[index] {
            // It may move up unless its own place is behind the gap.
            let way = (index - home(other.recipe, other.hash)) & (places.count - 1)
            if way >= (index - gap) & (places.count - 1) {
                places.swapAt(gap, index)
                gap = index
            }
            index = next(index)
        }
    }

    // MARK: Inside

    /// Where an instance is looked for first.
    private func home(_ recipe: Recipe, _ hash: UInt32) -> Int {
        // Unretained because only the address counts.
        let address = UInt(bitPattern: Unmanaged.passUnretained(recipe).toOpaque())
        let mixed = (UInt64(address) &+ UInt64(hash) << 32) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32) & (places.count - 1)
    }

    private mutating func list(_ kept: Kept) {
        if byRecipe == nil || kept.arguments == nil { return }
        byRecipe?[ObjectIdentifier(kept.recipe), default: [:]][ObjectIdentifier(kept)] = kept
    }

    private mutating func unlist(_ kept: Kept) {
        if byRecipe == nil || kept.arguments == nil { return }
        let recipe = ObjectIdentifier(kept.recipe)
        byRecipe?[recipe]?[ObjectIdentifier(kept)] = nil
        if byRecipe?[recipe]?.isEmpty == true { byRecipe?[recipe] = nil }
    }

    private func next(_ index: Int) -> Int { (index + 1) & (places.count - 1) }

    private func index(of kept: Kept) -> Int? {
        if isEmpty { return nil }
        var index = home(kept.recipe, kept.hash)
        while let other = places[index] {
            if other === kept { return index }
            index = next(index)
        }
        return nil
    }

    private mutating func put(_ kept: Kept) {
        var index = home(kept.recipe, kept.hash)
        while places[index] != nil { index = next(index) }
        places[index] = kept
    }

    private mutating func grow() {
        // Written out, because making an array of so many looks for its type each time, as long as all the rest of a
        // first insertion.
        if places.isEmpty { return places = [nil, nil, nil, nil] }
        let old = places
        places = Array(repeating: nil, count: old.count * 2)
        for case let kept? in old { put(kept) }
    }
}

extension InstanceCache {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(all.count == count, "every instance is counted")
        precondition(places.isEmpty || count < places.count, "one place stays free")
        for kept in all { precondition(index(of: kept) != nil, "every instance is found") }
        precondition(Set(all.map { ObjectIdentifier($0) }).count == count, "an instance is there once")
        guard let byRecipe else { return }
        precondition(
            byRecipe.values.map(\.count).reduce(0, +) == all.count { $0.arguments != nil }, "each is listed once")
        for (recipe, list) in byRecipe {
            precondition(!list.isEmpty, "no empty lists")
            precondition(list.values.allSatisfy { ObjectIdentifier($0.recipe) == recipe }, "lists agree")
            precondition(list.values.allSatisfy { index(of: $0) != nil }, "lists have what is there")
        }
    }
}
