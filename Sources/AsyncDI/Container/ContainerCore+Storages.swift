/// Storages of custom lifetimes: what is stored in them and when they are cleared.
extension ContainerCore {
    /// An instance that is complete, and to be stored.
    struct StoredProduct {
        let creation: Creation
        let cell: Cell
        let instance: any Sendable
    }

    typealias StorageWork = StorageQueue<StoredProduct>.Work

    /// Stores an instance and ends its creation; when another caller is at the storage, that one does both afterwards.
    func store(_ product: StoredProduct, in storage: any InstanceStorage) {
        // Until the flight has ended, a request waits for it and does not ask the storage.
        let isFree = withState { $0.storageWork.begin(.store(product), on: storage) }
        if isFree { work(on: storage, beginningWith: .store(product)) }
    }

    /// Does what is to be done to a storage, until nothing is left.
    func work(on storage: any InstanceStorage, beginningWith first: StorageWork) {
        var next: StorageWork? = first
        while let work = next {
            switch work {
            case .clear:
                storage.clear()
                next = withState { $0.storageWork.next(on: storage) }
            case .store(let product):
                // An instance that was reset or replaced since it was begun reaches its waiters, and must not take its
                // successor's place.
                let isValid = withState { $0.isValid(product.creation) }
                if isValid { storage.store(product.instance) }
                let ended = end(product.creation, .success(product.cell), in: storage)
                // If it was reset while it was stored, the storage is cleared by whoever did that: this work comes
                // next. Unless the container was dropped, which waits for nothing.
                if isValid, ended.isDropped { storage.clear() }
                next = ended.next
            }
        }
    }
}

extension ContainerCore.State {
    /// Whether what a creation makes is to be kept, as far as can be told before it has ended.
    fileprivate func isValid(_ creation: Creation) -> Bool {
        phase == .open && flights[creation]?.isInvalidated == false
    }
}
