/// One cached instance of a container.
struct Kept {
    var cell: Cell?
    var storage: (any InstanceStorage)?
    /// Which of all stored instances of the container this is, zero before the first: a request that asked the storage knows
    /// whether what it found is still true, also when a lifetime gives the same storage again after a reset.
    var generation = 0
    var ledgerID: DisposalLedger<Disposable>.ID?
    /// Under which keys the instance is published, and in which cells: converted ones for other types.
    var published: [Publication] = []
    /// Whether readers are to find it from the second request on: most of what a request's scope makes is asked for once.
    var isToBePublished = false
    /// The arguments that it was made with, if it has any.
    var pack: ArgumentPack?
    /// Its entry in a multiton with bounds, which notes its uses.
    var node: MultitonCache<CreationKey>.Node?
    /// The instance as readers find it by its arguments.
    var indexed: IndexedInstance?
    /// Whether resets leave it alone: an instance that was registered as such.
    var isFixed = false
}

/// A cell that readers find under a key.
struct Publication {
    let key: ServiceKey
    let cell: Cell
}

/// An instance that is to be disposed.
struct Disposable: Sendable {
    let cell: Cell
    let recipe: Recipe
    /// What the instance's factory leased: ends after the instance.
    var leases: [any HeldLease] = []
}
