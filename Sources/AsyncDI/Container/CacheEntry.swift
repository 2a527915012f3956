/// One cached instance of a container, and everything about it: there may be very many.
///
/// `@unchecked Sendable` because readers without a lock see the constants of its superclass only; what changes belongs
/// to the container's lock.
class CacheEntry: IndexEntry, @unchecked Sendable {
    // In this order, because the small ones fill a gap.
    /// Whether readers find the cell under the key of its registration.
    final var isPublished = false
    /// Whether readers are to find it from the second request on: most of what a request's scope makes is asked for
    /// once.
    final var isToBePublished = false
    /// Whether readers find it, converted, under other keys too: see ``ContainerCore/Extras/aliases``.
    final var hasAliases = false
    /// Whether resets leave it alone: an instance that was registered as such.
    final var isFixed = false
    final let binding: Binding
    private final var ledgerNumber = -1

    /// The arguments are given for readers only, where there are any.
    init(_ key: CreationKey, _ arguments: ArgumentPack? = nil, cell: Cell?) {
        binding = key.binding
        super.init(key.arguments, arguments, cell: cell)
    }

    /// An entry of the kind that it takes: one with a node notes its uses.
    static func make(
        _ key: CreationKey, _ arguments: ArgumentPack?, cell: Cell, node: MultitonCache<CreationKey>.Node?
    ) -> CacheEntry {
        guard let node else { return CacheEntry(key, arguments, cell: cell) }
        return BoundedCacheEntry(key, arguments, cell: cell, node: node)
    }

    final var ledgerID: DisposalLedger<Disposable>.ID? {
        get { ledgerNumber < 0 ? nil : ledgerNumber }
        set { ledgerNumber = newValue ?? -1 }
    }

    /// What it is found by.
    final var key: CreationKey { CreationKey(binding, argumentKey) }

    /// The entry of a multiton with bounds.
    var node: MultitonCache<CreationKey>.Node? { nil }
    /// The storage that has the instance.
    final var storage: (any InstanceStorage)? { stored?.instances }
    /// This, if a storage has the instance.
    var stored: StoredCacheEntry? { nil }
}

/// An instance of a multiton with bounds.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant of a `Sendable` type.
private final class BoundedCacheEntry: CacheEntry, @unchecked Sendable {
    private let entry: MultitonCache<CreationKey>.Node

    init(_ key: CreationKey, _ arguments: ArgumentPack?, cell: Cell, node: MultitonCache<CreationKey>.Node) {
        entry = node
        super.init(key, arguments, cell: cell)
    }

    override var node: MultitonCache<CreationKey>.Node? { entry }
    override func noteUse() { entry.note() }
}

/// A storage that has an instance, or is about to.
///
/// `@unchecked Sendable` because its superclass is; what it adds belongs to the container's lock.
final class StoredCacheEntry: CacheEntry, @unchecked Sendable {
    let instances: any InstanceStorage
    /// Changes with what the storage has, and is never the same for two entries: a request that asked the storage knows
    /// whether what it found is still true, also when a lifetime gives the same storage again after a reset.
    var generation: Int
    /// Whether an instance was stored for this entry.
    var isFilled = false

    init(_ key: CreationKey, storage: any InstanceStorage, generation: Int) {
        instances = storage
        self.generation = generation
        super.init(key, cell: nil)
    }

    override var stored: StoredCacheEntry? { self }
}

/// A cell that readers find under a key.
struct Publication {
    let key: ServiceKey
    let cell: Cell
}
