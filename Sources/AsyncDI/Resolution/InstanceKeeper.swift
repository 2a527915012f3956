/// An object outside every container that keeps instances for requests in several of them.
protocol InstanceKeeper: AnyObject, Sendable {
    /// The container with this number has ended: its instance is forgotten.
    ///
    /// Not called under a lock.
    func containerHasEnded(_ number: UInt64)
}

/// A reference that does not keep the keeper.
struct WeakInstanceKeeper: Sendable {
    weak let keeper: (any InstanceKeeper)?
}
