/// What a request without qualifier and arguments finds at once, where no rule applies and nothing is recorded.
@usableFromInline enum FoundAtOnce: ~Copyable {
    /// A published instance: the caller copies it where its type is known, so that no generic code runs, and then ends the hit.
    case hit(InstanceTable.Hit)
    /// The run in which a transient instance is to be made.
    case transient(Frame)
    /// The instance of the graph that is in use.
    case instance(Cell)
    /// A request for one that must suspend, or fail.
    case decided(DecidedRequest)
    /// The run in which an instance of the graph is to be made.
    case graph(GraphRun)
}
