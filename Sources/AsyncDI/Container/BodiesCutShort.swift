/// The running bodies of `withScope` whose scopes were disposed under them, for ``ActivitySnapshot``.
///
/// A pure value. A body keeps its scope, so that a scope which is gone has no body.
struct BodiesCutShort {
    struct Entry {
        let scope: WeakCore
        /// The container that the scope was opened in, as messages show it.
        let container: String
        /// The time of the scope's opening, by the scope's stopwatch.
        let since: Duration

        /// The scope, nil after the end of the body.
        ///
        /// Not to be called under a lock: it may be the last to hold the scope.
        var running: ContainerCore? { scope.core.flatMap { $0.bodyHasReturned ? nil : $0 } }
    }

    /// The entries, also of bodies that have ended since.
    private(set) var entries: [Entry] = []
    /// The number of entries at which those of bodies that have ended are removed.
    private var limit = 16

    /// Adds an entry.
    ///
    /// - Returns: The scopes that were looked at, for the caller to release outside its lock.
    mutating func add(_ entry: Entry) -> [ContainerCore] {
        entries.append(entry)
        if entries.count < limit { return [] }
        let scopes = entries.map(\.scope.core)
        entries = zip(entries, scopes).filter { $1?.bodyHasReturned == false }.map(\.0)
        limit = max(16, entries.count * 2)
        return scopes.compactMap(\.self)
    }
}
