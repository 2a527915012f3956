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
        let id = key.map { ContributionID(key: $0) } ?? ContributionID()
        var copy = self
        let key = blueprint.key.with(.contribution(id))
        copy.blueprint.key = key
        if !blueprint.forwards.isEmpty {
            copy.blueprint.change { extras in
                extras.forwards = extras.forwards.map { Forward(from: key, to: $0.to, convert: $0.convert) }
            }
        }
        return copy
    }
}
