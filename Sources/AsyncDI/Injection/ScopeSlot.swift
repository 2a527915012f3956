/// The scope of a view, opened when it is first asked for and replaced when its key or what is above it changes.
@MainActor final class ScopeSlot {
    private struct Opened {
        let key: AnyKey?
        let parent: Container
        /// Nil when the parent was disposed already.
        let scope: OwnedScope?
    }

    private var opened: Opened?

    nonisolated init() {}

    /// Gives the scope, the same one as before if key and parent are.
    ///
    /// - Parameters:
    ///   - parent: What the scope is below.
    ///   - key: Another key asks for another scope.
    ///   - registrations: Looked at when a scope is opened.
    /// - Returns: The scope; where none can be opened, because there is no parent or it is disposed, the parent: what
    ///   is resolved there throws the reason.
    func container(
        below parent: Container?, key: AnyKey?, registrations: () -> Registrations = { Registrations() }
    ) -> Container? {
        guard let parent else { return nil }
        if let opened, opened.parent === parent, opened.key == key { return opened.scope?.container ?? parent }
        let scope = try? OwnedScope(
            in: parent, name: key.map { "\($0.base)" } ?? "scope", registrations: registrations)
        opened = Opened(key: key, parent: parent, scope: scope)
        return scope?.container ?? parent
    }
}

/// Gives the first value found on a way: at its start, at the next stop, and so on.
///
/// - Parameters:
///   - start: Where the way begins.
///   - next: Where it leads; nil at its end.
///   - value: What a stop has.
/// - Returns: The value of the first stop that has one.
func firstValue<Stop, Value>(from start: Stop, next: (Stop) -> Stop?, _ value: (Stop) -> Value?) -> Value? {
    var stop: Stop? = start
    while let current = stop {
        if let value = value(current) { return value }
        stop = next(current)
    }
    return nil
}
