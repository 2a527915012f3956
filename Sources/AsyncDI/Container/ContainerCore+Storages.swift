/// Storages of custom lifetimes: when instances are stored in them, and when they are cleared.
extension ContainerCore {
    /// A complete instance to be stored.
    typealias StoredProduct = (creation: Creation, cell: Cell, instance: any Sendable)

    typealias StorageWork = StorageQueue<StoredProduct>.Work

    /// Performs the pending calls of a storage until none is left.
    func work(on storage: any InstanceStorage, beginningWith first: StorageWork) {
        var next: StorageWork? = first
        while let work = next {
            switch work {
            case .clear:
                storage.clear()
                var waiting: [CheckedContinuation<Void, Never>] = []
                next = withState { state in
                    waiting = state.life.endRemoval()
                    let next = state.storageWork.next(on: storage)
                    if state.storageWork.isEmpty { waiting += state.life.over(.storages) }
                    return next
                }
                for continuation in waiting { continuation.resume() }
            case .store(let product):
                // An instance that was reset or replaced since its creation began reaches its waiters, and must not
                // take its successor's place.
                let isValid = withState { state in
                    state.life.isOpen && state.flights[product.creation]?.isInvalidated == false
                }
                if isValid { storage.store(product.instance) }
                let ended = endFlight(
                    product.creation, .success(product.cell), storedIn: storage, isWritten: isValid)
                guard let ended else { return }
                let isDropped = ended.isDropped
                next = ended.nextWork
                // The content of the ending is released first.
                _ = consume ended
                // If a reset came while the instance was being stored, that reset's pending call clears the storage
                // next. A dropped container does not wait for that call, so the storage is cleared here.
                if isValid, isDropped { storage.clear() }
            }
        }
    }
}

extension ContainerCore.State {
    /// Removes a storage whose creation stored no instance, so that arguments that fail do not accumulate.
    ///
    /// Keeps the storage if another creation, which began after a reset, is about to use it.
    mutating func forget(
        _ storage: any InstanceStorage, of creation: Creation, into removals: inout Removals
    ) {
        guard let kept = instances[creation.key]?.stored, kept.instances === storage, !kept.isFilled,
            flights.flight(for: creation.key) == nil
        else { return }
        instances.remove(kept)
        removals.released.append(kept)
    }
}
