import Synchronization

/// What stands between a request and a hit.
extension InstanceTable {
    /// Whether the container was disposed: nothing is found through it any more.
    var isClosed: Bool { obstacles.load(ordering: .acquiring) & Self.closedBit != 0 }
    func close() { obstacles.bitwiseOr(Self.closedBit, ordering: .releasing) }

    /// Whether anything stands between a request and an instance.
    var hasObstacles: Bool { obstacles.load(ordering: .acquiring) != 0 }

    /// Whether modules are still to be told that they are loaded, here or where this container looks: requests from
    /// outside wait.
    var hasPendingModules: Bool {
        get { obstacles.load(ordering: .acquiring) & Self.pendingBit != 0 }
        set {
            if newValue {
                obstacles.bitwiseOr(Self.pendingBit, ordering: .releasing)
            } else {
                obstacles.bitwiseAnd(~Self.pendingBit, ordering: .releasing)
            }
        }
    }

    /// Whether the container is being drained: requests from outside begin nothing new, which the slow path looks
    /// after.
    var isDraining: Bool {
        get { obstacles.load(ordering: .acquiring) & Self.drainingBit != 0 }
        set {
            if newValue {
                obstacles.bitwiseOr(Self.drainingBit, ordering: .releasing)
            } else {
                obstacles.bitwiseAnd(~Self.drainingBit, ordering: .releasing)
            }
        }
    }
}
