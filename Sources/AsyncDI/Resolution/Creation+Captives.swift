/// The instances that the product of a creation may hold.
extension Creation {
    /// Whether the product lives longer than that of another creation.
    func outlives(_ other: Creation) -> Bool {
        guard let home, let otherHome = other.home else { return false }
        if home === otherHome { return binding.lifetime.outlivesScopes }
        return otherHome.isBelow(home)
    }

    /// Whether this creation's product must not hold graph instances that were created for another holder.
    func mustNotShare(_ creation: Creation) -> Bool {
        creation.madeFor !== binding && mustNotShare(whatWasMadeIn: creation.host)
    }

    /// Whether this creation's product must not share graph instances that a container created for another holder.
    ///
    /// The content of such an instance was checked for the other holder only. It is not recorded, so every instance
    /// that it may hold counts.
    func mustNotShare(whatWasMadeIn host: any ResolutionHost) -> Bool {
        guard let home, !binding.blueprint.isHidden else { return false }
        if host.isBelow(home) { return true }
        guard binding.lifetime.outlivesScopes else { return false }
        return host.hasResettableInstances || home === host && host.hasScopedInstances
    }
}
