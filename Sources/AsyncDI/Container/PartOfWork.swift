/// A running part of an ``OwnedScope``'s work: drains may wait for it, and the leases of the scope's instances end
/// after it.
///
/// It has the form of a lease, so that the graph of waits finds the body of the part as it finds one that leases an
/// instance.
final class PartOfWork: HeldLease {
    let scope: ContainerCore

    init(in scope: ContainerCore) { self.scope = scope }

    /// No disposal waits for a part of a scope that is disposed under it.
    var outer: [Activity] {
        if scope.table.isClosed { return [] }
        return (scope.bodyReference.object?.disposalsAwaitingLeases ?? [])
            + (scope.isDrained ? EndlessDrains.waiting(forBodyIn: scope.table) : [])
    }

    var delaysDisposal: Bool { false }

    func end() {}
    func noteBody() {}
    func passToInstance(of holder: Creation, decorating: Bool) {}
}
