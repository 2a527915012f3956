/// The fallbacks of a container, of its handle, or of its table.
///
/// An object, so that a long chain of them is released in turn: see ``releaseInTurn(_:)``.
final class Fallbacks<Element: Sendable>: Sendable {
    let all: [Element]

    /// Returns nil where a container has none.
    init?(_ all: [Element]) {
        if all.isEmpty { return nil }
        self.all = all
    }
}
