extension Registrations {
    /// One registration of a collection.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The key.
        public let key: ServiceKey
        /// The other keys that resolve the same instances, from ``Registration/implements(_:qualifier:)``.
        public let implementedKeys: [ServiceKey]
        /// The file and line of the registration; nil when they are not known.
        public let site: RegistrationSite?
        /// Whether it is a contribution, which stands beside others and replaces none.
        public let isContribution: Bool
        /// Whether it stands for a value that each scope supplies.
        package let isExpected: Bool

        /// The key, with file and line in parentheses.
        public var description: String { site.map { "\(key) (\($0))" } ?? "\(key)" }
    }

    /// The registrations in order, including those of modules; decorations are left out.
    ///
    /// Runs no factory. Use it in a test that compares the registrations of two modules.
    public var entries: [Entry] {
        var entries: [Entry] = []
        forEach { draft in
            let blueprint = draft.blueprint
            entries.append(
                Entry(
                    key: blueprint.key, implementedKeys: blueprint.forwards.map(\.to), site: blueprint.site,
                    isContribution: blueprint.key.isContribution, isExpected: blueprint.isExpected))
        }
        return entries
    }
}
