/// A running part of an ``OwnedScope``'s work, which drains wait for.
///
/// It has the form of a lease, so that the graph of waits finds the body of the part as it finds one that leases an
/// instance.
final class DrainedWork: HeldLease {
    private let table: InstanceTable

    init(in scope: ContainerCore) { table = scope.table }

    var outer: [Activity] { EndlessDrains.waiting(forBodyIn: table) }

    func end() {}
    func noteBody() {}
    func passToInstance(of holder: Creation, decorating: Bool) {}
}

extension ContainerCore {
    /// The body of a part of this scope's work; nil in a scope that no drain waits for.
    var partOfWork: LeaseBody? {
        isDrained ? LeaseBody(leasing: [DrainedWork(in: self)], at: self) : nil
    }
}

extension LeaseBody {
    /// Whether the body is a part of an owned scope's work.
    var isWork: Bool { held.contains { $0 is DrainedWork } }
}
