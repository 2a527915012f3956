/// The pending disposals of a container, in the order of completion; each entry is removed once.
///
/// A pure value.
struct DisposalLedger<Item> {
    typealias ID = Int

    private struct Entry {
        let id: ID
        /// Nil after it was removed.
        var item: Item?
    }

    /// The entries in the order of completion, which is the order of their identifiers.
    ///
    /// Removed ones stay until they outnumber the others.
    private var entries: [Entry] = []
    private(set) var count = 0
    private var nextID = 0

    var isEmpty: Bool { count == 0 }
    /// The identifier of the latest entry.
    var latest: ID? { entries.last { $0.item != nil }?.id }

    /// The recorded item; nil if it was removed before.
    subscript(id: ID) -> Item? { index(of: id).flatMap { entries[$0].item } }

    mutating func record(_ item: Item) -> ID {
        let id = makePlace()
        entries.append(Entry(id: id, item: item))
        count += 1
        return id
    }

    /// The next place in the order, for an item that is not recorded.
    mutating func makePlace() -> ID {
        defer { nextID += 1 }
        return nextID
    }

    /// Removes one entry and returns its item; nil if it was removed before.
    mutating func take(_ id: ID) -> Item? {
        guard let index = index(of: id), let item = entries[index].item else { return nil }
        entries[index].item = nil
        count -= 1
        if entries.count > 32, entries.count > count * 2 { entries.removeAll { $0.item == nil } }
        return item
    }

    /// Removes the latest entry.
    mutating func takeNewest() -> Item? {
        while let entry = entries.popLast() {
            guard let item = entry.item else { continue }
            count -= 1
            return item
        }
        return nil
    }

    /// Removes several entries, newest first.
    mutating func take(_ ids: [ID]) -> [Item] {
        ids.sorted(by: >).compactMap { take($0) }
    }

    /// The latest entry that matches.
    func latest(where isMeant: (Item) -> Bool) -> ID? {
        entries.last { $0.item.map(isMeant) ?? false }?.id
    }

    /// Entries in the order of completion.
    var inOrder: [Item] { entries.compactMap(\.item) }

    /// The position of an entry; nil if it was removed.
    private func index(of id: ID) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }
}

extension DisposalLedger {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(zip(entries, entries.dropFirst()).allSatisfy { $0.id < $1.id }, "the order is that of completion")
        precondition(inOrder.count == count, "every entry is counted")
        precondition(entries.allSatisfy { $0.id < nextID }, "identifiers grow")
    }
}
