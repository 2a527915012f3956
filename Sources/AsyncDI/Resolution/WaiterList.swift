/// The waiters of one flight, in the order of arrival.
///
/// A pure value. Joining is an append, because thousands may join and hardly any leaves. A leaving waiter is searched
/// for among few; among many, an index finds it, which is built when the first one leaves.
struct WaiterList<Waiter: Hashable> {
    /// Nil where a waiter has left.
    private(set) var places: [Waiter?] = []
    private(set) var index: [Waiter: Int]?
    private(set) var count = 0
    static var mostOfFew: Int { 16 }

    var isEmpty: Bool { count == 0 }

    /// Adds a waiter that is not there.
    mutating func append(_ waiter: Waiter) {
        index?[waiter] = places.count
        places.append(waiter)
        count += 1
    }

    /// Removes a waiter; false when it is not there.
    mutating func remove(_ waiter: Waiter) -> Bool {
        guard places.count > Self.mostOfFew else {
            guard let place = places.firstIndex(of: waiter) else { return false }
            places.remove(at: place)
            count -= 1
            return true
        }
        if index == nil { index = Dictionary(uniqueKeysWithValues: zip(self, 0...)) }
        guard let place = index!.removeValue(forKey: waiter) else { return false }
        places[place] = nil
        count -= 1
        // The places of waiters that have left do not pile up.
        if count * 2 < places.count { self = WaiterList(self) }
        return true
    }
}

extension WaiterList: Sequence {
    init(_ waiters: some Sequence<Waiter>) {
        places = waiters.map { $0 }
        count = places.count
    }

    func makeIterator() -> some IteratorProtocol<Waiter> { places.lazy.compactMap { $0 }.makeIterator() }
    var underestimatedCount: Int { count }
}

/// Equal are lists of the same waiters, whatever the order.
extension WaiterList: Equatable, ExpressibleByArrayLiteral {
    init(arrayLiteral elements: Waiter...) { self.init(elements) }

    static func == (first: Self, second: Self) -> Bool {
        first.count == second.count && Set(first) == Set(second)
    }
}
