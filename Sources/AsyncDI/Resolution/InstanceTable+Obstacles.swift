import Synchronization

/// What stands between a request and a hit.
extension InstanceTable {
    /// Whether the container was disposed: nothing is found through it any more.
    var isClosed: Bool { has(Self.closedBit) }
    func close() { set(Self.closedBit, to: true) }

    /// Whether anything stands between a request and an instance.
    var hasObstacles: Bool { obstacles.load(ordering: .acquiring) != 0 }

    /// Whether modules are still to be told that they are loaded, here or where this container looks: requests from
    /// outside wait.
    var hasPendingModules: Bool {
        get { has(Self.pendingBit) }
        set { set(Self.pendingBit, to: newValue) }
    }

    /// Whether the container is being drained: requests from outside begin nothing new, which the slow path looks
    /// after.
    var isDraining: Bool {
        get { has(Self.drainingBit) }
        set { set(Self.drainingBit, to: newValue) }
    }

    private func has(_ bit: UInt8) -> Bool { obstacles.load(ordering: .acquiring) & bit != 0 }
    private func set(_ bit: UInt8, to isSet: Bool) {
        if isSet {
            obstacles.bitwiseOr(bit, ordering: .releasing)
        } else {
            obstacles.bitwiseAnd(~bit, ordering: .releasing)
        }
    }
}
