/// A scope that lasts as long as this object: for owners that end without a moment in which to `await`.
final class OwnedScope: Sendable {
    let container: Container

    /// Opens a scope.
    ///
    /// - Parameters:
    ///   - parent: What it is opened below.
    ///   - name: What messages call it; it is not found by it.
    ///   - registrations: What is added or overridden in the scope.
    /// - Throws: `disposed`.
    init(below parent: Container, name: String, registrations: () -> Registrations = { Registrations() }) throws {
        container = try parent.core.openScope(key: nil, name: name, holder: parent, registrations: registrations)
    }

    /// From this moment on the scope is closed; what it holds is disposed in the background, also when its parent goes
    /// away.
    ///
    /// Observers are told what hooks throw.
    deinit {
        let core = container.core
        _ = core.beginDisposal(reason: DisposalReason(error: ContainerCore.cutShort(core)))
    }
}

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
            below: parent, name: key.map { "\($0.base)" } ?? "scope", registrations: registrations)
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
