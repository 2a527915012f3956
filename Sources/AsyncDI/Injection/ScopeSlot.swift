/// The scope of a view, opened at its first use and replaced when its key or its parent changes.
@MainActor final class ScopeSlot {
    /// The scope is nil when the parent was disposed already.
    private var opened: (key: AnyKey?, parent: Container, scope: OwnedScope?)?

    nonisolated init() {}

    /// Returns the scope, which is the same one as long as key and parent are the same.
    ///
    /// - Parameters:
    ///   - parent: The container to open the scope in.
    ///   - key: The key; another key opens another scope.
    ///   - registrations: Evaluated when a scope is opened.
    /// - Returns: The scope. Where no scope can be opened, because the parent is nil or disposed, the parent: resolving
    ///   there throws the reason.
    func container(
        below parent: Container?, key: AnyKey?, registrations: () -> Registrations = { Registrations() }
    ) -> Container? {
        guard let parent else { return nil }
        if let opened, opened.parent === parent, opened.key == key { return opened.scope?.container ?? parent }
        let scope = try? OwnedScope(
            in: parent, name: key.map { "\($0.base)" } ?? "scope", registrations: registrations)
        opened = (key, parent, scope)
        return scope?.container ?? parent
    }
}
