/// What is to be done to storages: one thing at a time for each, in the order in which it was decided.
///
/// A storage is the user's code, and called outside every lock. Two that have decided something one after the other
/// could therefore call it in the other order: what was reset would be stored over its successor, or the successor be
/// cleared. So the decision takes a place here, in the same step; a task that finds the storage free does its work, and
/// then what others have left meanwhile.
///
/// A pure value.
struct StorageQueue<Product> {
    enum Work {
        case store(Product)
        case clear
    }

    private struct Entry {
        /// Held, so that no other storage is taken for it.
        let storage: any InstanceStorage
        /// What comes after the work that is being done.
        var waiting: [Work] = []
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Whether something is being done to a storage, or is about to: what it has says nothing then.
    func isBusy(_ storage: any InstanceStorage) -> Bool {
        !entries.isEmpty && entries[ObjectIdentifier(storage)] != nil
    }

    /// Adds work.
    ///
    /// Returns whether the caller is to do it, and then what ``next(on:)`` gives; otherwise another caller does it in
    /// time.
    mutating func begin(_ work: Work, on storage: any InstanceStorage) -> Bool {
        let id = ObjectIdentifier(storage)
        guard entries[id] != nil else {
            entries[id] = Entry(storage: storage)
            return true
        }
        entries[id]?.waiting.append(work)
        return false
    }

    /// The work that was being done is over: what its caller is to do next, nil when that is all.
    mutating func next(on storage: any InstanceStorage) -> Work? {
        let id = ObjectIdentifier(storage)
        guard let entry = entries[id] else { preconditionFailure("only work that has begun can be over") }
        guard !entry.waiting.isEmpty else {
            entries[id] = nil
            return nil
        }
        return entries[id]?.waiting.removeFirst()
    }
}

extension StorageQueue {
    /// How much waits for storages that are busy.
    var waitingCount: Int { entries.values.reduce(0) { $0 + $1.waiting.count } }
}
