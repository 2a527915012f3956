/// The pending disposals of a container, in the order of completion; each entry is removed once.
///
/// A pure value.
struct DisposalLedger<Item> {
    typealias ID = Int

    private var items: [ID: Item] = [:]
    private var nextID = 0
    /// Entries in the order of completion; those taken since stay until they outnumber the others.
    private var order: [ID] = []

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }

    /// The entry, nil when it was removed before.
    subscript(id: ID) -> Item? { items[id] }

    mutating func record(_ item: Item) -> ID {
        defer { nextID += 1 }
        items[nextID] = item
        order.append(nextID)
        return nextID
    }

    /// Removes one entry, nil when it was removed before.
    mutating func take(_ id: ID) -> Item? {
        guard let item = items.removeValue(forKey: id) else { return nil }
        if order.count > 32, order.count > items.count * 2 { order.removeAll { items[$0] == nil } }
        return item
    }

    /// Removes the latest entry.
    mutating func takeNewest() -> Item? {
        while let id = order.popLast() {
            if let item = items.removeValue(forKey: id) { return item }
        }
        return nil
    }

    /// Removes several entries, newest first.
    mutating func take(_ ids: [ID]) -> [Item] {
        ids.sorted(by: >).compactMap { take($0) }
    }

    /// Entries in the order of completion, for tests and reports.
    var inOrder: [Item] { order.compactMap { items[$0] } }
}

extension DisposalLedger {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(order == order.sorted(), "the order is that of completion")
        precondition(Set(order).count == order.count, "an entry is listed once")
        precondition(items.keys.allSatisfy(Set(order).contains), "every entry is listed")
        precondition(items.keys.allSatisfy { $0 < nextID }, "identifiers grow")
    }
}
