extension Registration where Service: Sendable {
    /// Makes the registration one of many: a contribution to the results of `resolveMany` and `resolveMap`.
    ///
    /// Contributions do not replace one another, except those with equal keys, which follow the container's
    /// ``DuplicatePolicy``; a scope's contribution hides the one with the same key above it. In both cases the new
    /// contribution takes the place of the other in the order.
    /// ```swift
    /// Registration(using: CSVExporter.init, as: (any Exporter).self).intoMany(key: "csv")
    /// Registration((any Exporter).self, lifetime: .singleton) { _ in PDFExporter() }.intoMany(key: "pdf")
    ///
    /// let exporters = try await container.resolveMap((any Exporter).self, keyedBy: String.self)
    /// ```
    /// - Parameter key: The contribution's key in `resolveMap`.
    /// - Returns: The changed registration.
    public func intoMany(key: (any Hashable & Sendable)? = nil) -> Self {
        var copy = self
        copy.blueprint.contribute(as: key.map { ContributionID(key: $0) } ?? ContributionID())
        return copy
    }
}

extension Blueprint {
    /// Makes this a contribution with the given identity.
    fileprivate mutating func contribute(as id: ContributionID) {
        let key = key.with(.contribution(id))
        self.key = key
        if forwards.isEmpty { return }
        change { extras in
            extras.forwards = extras.forwards.map { Forward(from: key, to: $0.to, convert: $0.convert) }
        }
    }

    /// Makes this a registration of its own, of a draft that may have been given to a container before.
    ///
    /// A contribution without a key stands beside the earlier one. An instance has a cell for each of its
    /// registrations, because its leases are found by the cell.
    ///
    /// - Parameter again: Whether the draft has been given to a container before. Another draft may have its instance.
    mutating func becomeOneOfItsKind(again: Bool) {
        if again, case .contribution(let id) = key.role, let other = id.another { contribute(as: other) }
        if let cell = instance { factory = InstanceFactory(cell.copied()) }
    }
}
