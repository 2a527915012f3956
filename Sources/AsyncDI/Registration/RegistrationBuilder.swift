/// Registrations as a value: those of a module, or the result of a function.
public struct Registrations: Sendable {
    /// One element is held without an array, because a builder creates one of these for each.
    private enum Content {
        case registration(Binding)
        indirect case decoration(Decoration)
        /// A module that the registrations came from, to be loaded when all are in place.
        indirect case module(any Module)
        /// An empty collection is also `several`.
        case several([Registrations])
    }
    private let content: Content

    private init(_ content: Content) { self.content = content }

    var isEmpty: Bool { count == 0 }

    /// Creates an empty collection.
    public init() { content = .several([]) }

    /// Collects the registrations of a builder closure.
    ///
    /// - Parameter registrations: Registrations and modules.
    public init(@RegistrationBuilder _ registrations: () -> Registrations) { self = registrations() }

    /// One registration, as a draft.
    init(_ draft: consuming Binding) { content = .registration(draft) }
    init(_ decoration: Decoration) { content = .decoration(decoration) }

    /// The registrations of a module, and the module itself after those that it contains.
    init(of module: any Module) { self.init([module.registrations, Registrations(.module(module))]) }

    fileprivate init(_ parts: consuming [Registrations]) {
        // Parts are not copied where possible: otherwise each is copied once for every level around it.
        content = .several(parts.indices.contains { parts[$0].isSeveral } ? parts.flatMap(\.parts) : parts)
    }

    private var isSeveral: Bool {
        if case .several = content { true } else { false }
    }

    private var parts: [Registrations] {
        if case .several(let parts) = content { parts } else { [self] }
    }
}

extension Registrations {
    /// The number of registrations, decorations and modules.
    var count: Int {
        if case .several(let parts) = content { parts.count } else { 1 }
    }

    /// Calls one of the closures with each element, in order.
    ///
    /// Uses the buffer, because iterating retains each element.
    func forEach(
        draft: (Binding) -> Void, decoration: (Decoration) -> Void = { _ in },
        module: (any Module) -> Void = { _ in }
    ) {
        switch content {
        case .registration(let registered): draft(registered)
        case .decoration(let decorated): decoration(decorated)
        case .module(let contained): module(contained)
        case .several(let parts):
            parts.withUnsafeBufferPointer { parts in
                for index in parts.indices {
                    parts[index].forEach(draft: draft, decoration: decoration, module: module)
                }
            }
        }
    }
}

/// Collects ``Registration`` and ``Module`` values, with `if`, `switch` and `for`.
@resultBuilder public enum RegistrationBuilder {
    /// One registration.
    public static func buildExpression<S>(_ registration: consuming Registration<S>) -> Registrations {
        Registrations(registration.draft)
    }
    /// One decoration.
    public static func buildExpression(_ decoration: Decoration) -> Registrations {
        Registrations(decoration)
    }
    /// The registrations of a module.
    public static func buildExpression(_ module: any Module) -> Registrations { Registrations(of: module) }
    /// The registrations of several modules.
    public static func buildExpression(_ modules: [any Module]) -> Registrations {
        Registrations(modules.map(Registrations.init(of:)))
    }
    /// Registrations collected elsewhere.
    public static func buildExpression(_ registrations: Registrations) -> Registrations { registrations }
    /// Diagnoses a value of another type.
    @available(*, unavailable, message: "a container is made of Registration, Decoration and Module values")
    public static func buildExpression<Other>(_ other: Other) -> Registrations { Registrations() }
    /// The only element of a block.
    @inlinable public static func buildBlock(_ part: Registrations) -> Registrations { part }
    /// All elements of a block.
    public static func buildBlock(_ parts: Registrations...) -> Registrations { buildArray(parts) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: Registrations?) -> Registrations { part ?? Registrations() }
    /// The first branch.
    public static func buildEither(first: Registrations) -> Registrations { first }
    /// The second branch.
    public static func buildEither(second: Registrations) -> Registrations { second }
    /// A `for` loop.
    public static func buildArray(_ parts: consuming [Registrations]) -> Registrations {
        Registrations(parts)
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: Registrations) -> Registrations { part }
}
