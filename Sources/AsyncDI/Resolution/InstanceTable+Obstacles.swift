import Synchronization

/// The obstacles between a request and a hit.
extension InstanceTable {
    /// Whether the container was disposed: its look-ups find nothing any more.
    var isClosed: Bool { has(Self.closedBit) }
    func close() { set(Self.closedBit, to: true) }

    /// Whether the container was not disposed, but released: nothing referred to it any more.
    var isDropped: Bool { has(Self.droppedBit) }
    func noteDrop() { set(Self.droppedBit, to: true) }

    /// Whether any obstacle stands between a request and an instance.
    var hasObstacles: Bool { obstacles.load(ordering: .acquiring) != 0 }

    /// Whether modules are pending, here or in a container that this one searches: requests from outside wait for their
    /// `loaded`.
    var hasPendingModules: Bool {
        get { has(Self.pendingBit) }
        set { set(Self.pendingBit, to: newValue) }
    }

    /// Whether the container is being drained: the slow path refuses new work of requests from outside.
    var isDraining: Bool {
        get { has(Self.drainingBit) }
        set { set(Self.drainingBit, to: newValue) }
    }

    /// Whether the drain was called on this very container, and not on one above it.
    var isDrainRoot: Bool {
        get { has(Self.drainRootBit) }
        set { set(Self.drainRootBit, to: newValue) }
    }

    /// Whether the deadline of a drain has passed before the container's work had ended.
    var isCutShortByDrain: Bool {
        get { has(Self.cutShortBit) }
        set { set(Self.cutShortBit, to: newValue) }
    }

    /// Whether containers that decorate registrations of this one have not heard of the latest ones yet.
    ///
    /// Must be read inside the look-up that finds the registration: the bit is not cleared before that look-up has
    /// ended.
    var isAnnouncing: Bool {
        get { has(Self.announcingBit) }
        set { set(Self.announcingBit, to: newValue) }
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
