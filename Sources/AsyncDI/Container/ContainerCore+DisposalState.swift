/// The questions of a disposal to the state of its container.
extension ContainerCore.State {
    /// Whether a new disposal can end at once, without a hook, creation, lease, scope or child to wait for.
    var hasNothingToWaitFor: Bool {
        hasHooksOnly && (ledger.isEmpty || observed.contains(.disposed) && ledger.inOrder.allSatisfy(\.isSilent))
    }

    /// Whether a disposal that has just begun waits only for hooks.
    var hasHooksOnly: Bool {
        flights.isEmpty && leases.isEmpty && owed == 0
            && !rarely { !$0.scopes.isEmpty || !$0.children.isEmpty || !$0.idleWatchers.isEmpty }
    }

    /// Removes and returns the next instance to dispose, and whether it is leased.
    mutating func takeNewest() -> (item: Disposable, isLeased: Bool)? {
        guard let item = ledger.takeNewest() else { return nil }
        return (item, !leases.isEmpty && item.cell.map(leases.isLeased) == true)
    }
}
