/// One cached instance of a container with all its bookkeeping; a container may have very many.
///
/// `@unchecked Sendable` because readers without a lock use only the constants of its superclass; its variables belong
/// to the container's lock.
class CacheEntry: IndexEntry, @unchecked Sendable {
    // In this order, because the small ones fill a gap.
    /// Whether readers find the cell under the key of its registration.
    final var isPublished = false
    /// Whether readers find the cell from the second request on, because most instances of a request's scope are
    /// requested once.
    final var isToBePublished = false
    final let binding: Binding
    private final var ledgerNumber = -1

    /// Creates an entry; the arguments are only for readers, and nil without arguments.
    init(_ key: CreationKey, _ arguments: ArgumentPack? = nil, cell: Cell?) {
        binding = key.binding
        super.init(key.arguments, arguments, cell: cell)
    }

    final var ledgerID: DisposalLedger<Disposable>.ID? {
        get { ledgerNumber < 0 ? nil : ledgerNumber }
        set { ledgerNumber = newValue ?? -1 }
    }

    /// Whether resets ignore the instance, because it was registered as an instance.
    final var isFixed: Bool { binding.blueprint.instance != nil }

    /// The key of the instance.
    final var key: CreationKey { CreationKey(binding, argumentKey) }

    final override func noteHolder() { binding.noteHolder() }

    /// The entry of a multiton with bounds.
    var node: MultitonCache<CreationKey>.Node? { nil }
    /// The storage that holds the instance.
    final var storage: (any InstanceStorage)? { stored?.instances }
    /// This entry, if a storage holds the instance.
    var stored: StoredCacheEntry? { nil }
}

/// An instance of a multiton with bounds, whose uses are noted.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant of a `Sendable` type.
final class BoundedCacheEntry: CacheEntry, @unchecked Sendable {
    private let entry: MultitonCache<CreationKey>.Node

    init(_ key: CreationKey, _ arguments: ArgumentPack?, cell: Cell, node: MultitonCache<CreationKey>.Node) {
        entry = node
        super.init(key, arguments, cell: cell)
    }

    override var node: MultitonCache<CreationKey>.Node? { entry }
    override func noteUse() { entry.note() }
}

/// A storage that holds an instance, or is about to.
///
/// `@unchecked Sendable` because its superclass is; its own variables belong to the container's lock.
final class StoredCacheEntry: CacheEntry, @unchecked Sendable {
    let instances: any InstanceStorage
    /// A number that changes with the content of the storage and differs between entries.
    ///
    /// A request that has loaded from the storage can check whether the result is still valid, even if a lifetime
    /// returns the same storage again after a reset.
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
