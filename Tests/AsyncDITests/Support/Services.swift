/// A service by a name, as an object and as a value.
protocol NamedService: Sendable {
    var name: String { get }
}
final class NamedObject: NamedService {
    let name: String
    init(name: String) { self.name = name }
}
struct NamedValue: NamedService { let name: String }

/// A holder of two instances, which a graph may share between them.
struct ThingPair: Sendable {
    let first: Thing
    let second: Thing
    var isShared: Bool { first === second }
}

/// A holder of what a factory has resolved, which may be its own service.
final class Nest: Sendable {
    let inner: (any Sendable)?
    init(_ inner: (any Sendable)? = nil) { self.inner = inner }
}
