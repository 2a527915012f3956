/// The pending calls of storages: one at a time for each, in the order in which they were decided.
///
/// A storage is user code, and called outside every lock. Without a queue, two tasks could call it in another order
/// than they decided: an instance that was reset would be stored over its successor, or the successor would be cleared.
/// So the decision takes a place here, in the same step. A task that finds the storage free performs its call, and then
/// the calls that others have added meanwhile.
///
/// A pure value.
struct StorageQueue<Product> {
    enum Work {
        case store(Product)
        case clear
    }

    private struct Entry {
        /// Held, so that another storage cannot have the same address.
        let storage: any InstanceStorage
        /// The calls after the current one.
        var waiting: [Work] = []
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Whether a call of a storage runs or is pending: the storage's content is then out of date.
    func isBusy(_ storage: any InstanceStorage) -> Bool {
        !entries.isEmpty && entries[ObjectIdentifier(storage)] != nil
    }

    /// Adds a call.
    ///
    /// Returns whether the caller must perform it, and then the results of ``next(on:)``; otherwise another caller
    /// performs it in time.
    mutating func begin(_ work: Work, on storage: any InstanceStorage) -> Bool {
        let id = ObjectIdentifier(storage)
        guard entries[id] != nil else {
            entries[id] = Entry(storage: storage)
            return true
        }
        entries[id]?.waiting.append(work)
        return false
    }

    /// Ends the current call, and returns the next one for the same caller, nil when none is pending.
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
    /// The number of calls pending for busy storages.
    var waitingCount: Int { entries.values.reduce(0) { $0 + $1.waiting.count } }
}
