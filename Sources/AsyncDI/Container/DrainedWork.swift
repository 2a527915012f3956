import Synchronization

/// A running part of an ``OwnedScope``'s work, which drains wait for.
///
/// It has the form of a lease, so that the body of the part is found in the graph of waits like one that leases an
/// instance.
final class DrainedWork: HeldLease {
    private let scope: ContainerCore

    init(in scope: ContainerCore) { self.scope = scope }

    /// The drains that wait for the scope.
    ///
    /// None waits for a scope that is disposed under its work; the drain of the scope itself cuts its work short.
    var outer: [Activity] { scope.table.isClosed ? [] : ContainerCore.drains(from: scope.parent) }

    func isBelow(_ container: ContainerCore) -> Bool { container.isAboveOrSame(scope) }

    func end() {}
    func noteBody() {}
    func passToInstance(of holder: Creation, decorating: Bool) {}
}

extension ContainerCore {
    /// The body of a part of this scope's work; nil in a scope that no drain waits for.
    var partOfWork: LeaseBody? {
        isDrained ? LeaseBody(leasing: [DrainedWork(in: self)], at: self) : nil
    }

    /// The disposals of a container, and of those above it, that wait for bodies inside them because of a drain.
    ///
    /// Called under the lock of ``Waits/graph``.
    static func drains(from container: ContainerCore?) -> [Activity] {
        if Disposal.endlessDrains.load(ordering: .sequentiallyConsistent) == 0 { return [] }
        var drains: [Activity] = []
        var next = container
        while let core = next {
            if !core.table.isClosed, let disposal = core.disposalUnderWay, disposal.waitsForBodies {
                drains.append(disposal)
            }
            next = core.parent
        }
        return drains
    }
}

extension LeaseBody {
    /// Whether the body is a part of an owned scope's work.
    var isWork: Bool { held.contains { $0 is DrainedWork } }

    /// Whether the body is a part of work in a scope of `container`, or in one below it.
    func isWork(below container: ContainerCore) -> Bool {
        held.contains { ($0 as? DrainedWork)?.isBelow(container) == true }
    }
}
