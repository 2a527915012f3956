/// What a request without qualifier and arguments finds at once, where no rule applies and nothing is recorded.
@usableFromInline enum FoundAtOnce: ~Copyable {
    /// A published instance: the caller copies it where its type is known, so that no generic code runs, and then ends
    /// the hit.
    case hit(InstanceTable.Hit)
    /// The run in which a transient instance is to be made.
    case transient(Run)
    /// The instance of the graph that is in use, or a shared one that was made without suspending.
    case instance(Cell)
    /// The run in which an instance of the graph is to be made.
    case graph(GraphRun)
    /// A request for a shared instance that is being made.
    case begun(BegunRequest)
    /// A request that has been decided upon, but must suspend or fail; nil where it is to be made in the usual way.
    case other(DecidedRequest?)
}
