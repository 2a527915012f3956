/// The instances that the product of a creation may hold.
extension Creation {
    /// Whether the product lives longer than that of another creation.
    func outlives(_ other: Creation) -> Bool {
        guard let home, let otherHome = other.home else { return false }
        if home === otherHome { return binding.lifetime.outlivesScopes }
        return otherHome.isBelow(home)
    }

    /// Whether this creation's product must not share a graph instance that a container created for a holder.
    ///
    /// The content of an instance for another holder was checked for that one only. It is not recorded, so every
    /// instance that it may hold counts.
    ///
    /// Inlined, because the holder is mostly the same, and then there is nothing to call.
    @inline(__always)
    func mustNotShare(whatWasMadeFor holder: Binding?, in host: any ResolutionHost) -> Bool {
        guard holder !== binding, let home, !binding.blueprint.isHidden else { return false }
        if host.isBelow(home) { return true }
        guard binding.lifetime.outlivesScopes else { return false }
        return host.hasResettableInstances || home === host && host.hasScopedInstances
    }
}
