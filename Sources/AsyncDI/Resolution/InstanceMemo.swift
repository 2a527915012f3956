/// An object outside every container that remembers instances for requests in several of them.
protocol InstanceMemo: AnyObject, Sendable {
    /// The container with this number has ended: its instance is forgotten.
    ///
    /// Not called under a lock.
    func containerHasEnded(_ number: UInt64)
}

/// A reference that does not keep the memo.
struct WeakInstanceMemo: Sendable {
    weak let memo: (any InstanceMemo)?
}
