import Synchronization

/// The drains without a deadline that are under way in one container.
///
/// A drain is a node of the graph of waits of its own, beside the container's disposal: it waits for the bodies in the
/// container's scopes, which a disposal cuts short. The bodies name the drains above them.
final class EndlessDrains: Sendable {
    /// The number of drains in the process: searches look for them only where one exists.
    private static let count = Atomic(0)

    private let list = Locked<[Completion]>([])

    /// Notes a drain, before the graph of waits checks its caller.
    func add(_ drain: Completion) {
        list.withLock { $0.append(drain) }
        Self.count.add(1, ordering: .sequentiallyConsistent)
    }

    /// Notes the end of a drain, also of one that was refused.
    func remove(_ drain: Completion) {
        Self.count.subtract(1, ordering: .sequentiallyConsistent)
        let removed = list.withLock { drains in
            drains.firstIndex { $0 === drain }.map { drains.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    /// The drains that wait for a body in a scope with this table.
    ///
    /// A container that is closed ends the body itself. Called under the lock of ``Waits/graph``.
    static func waiting(forBodyIn scope: InstanceTable) -> [Activity] {
        if count.load(ordering: .sequentiallyConsistent) == 0 { return [] }
        var drains: [Activity] = []
        var next: InstanceTable? = scope
        while let table = next {
            if table.isClosed { return [] }
            if let own = table.endlessDrains.object { drains += own.list.withLock { $0 } }
            next = table.parent
        }
        return drains
    }
}
