/// A connection that may be inside another one.
protocol Line: Sendable {
    var isOpen: Bool { get }
}

/// A decorator of lines, and the line inside: open until it, or the one inside it, is closed.
final class Cable: Line {
    private let closed = Log<Bool>()
    let inner: (any Line)?
    init(around inner: (any Line)? = nil) { self.inner = inner }
    func close() { closed.append(true) }
    var isOpen: Bool { closed.entries.isEmpty && inner?.isOpen != false }
}
