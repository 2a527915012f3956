/// How one argument compares with another of the same type.
enum ArgumentLikeness {
    case same, different
    /// Functions: a value may be wrapped anew each time it is passed on, so that nothing shows that it is the same one.
    case unknown

    /// That of two arguments each, from those of the parts.
    func and(_ other: @autoclosure () -> ArgumentLikeness) -> ArgumentLikeness {
        if self == .different { return self }
        let other = other()
        return other == .same ? self : other
    }
}

/// Whether two arguments are the same, also where their type does not say so: tells a cycle from a recursion that ends.
///
/// What can be compared is the same when it is equal, an object when it is the same object, and any other value when
/// its bits, or all of its stored properties, are the same. Everything else is another argument. A value that is not
/// even equal to itself, as NaN is, is the same when its bits are.
enum ArgumentIdentity {
    static func likeness<Value>(_ first: Value, _ second: Value) -> ArgumentLikeness {
        likeness(first, second, depth: 0)
    }

    /// A hash that is the same for arguments which are not known to differ.
    static func hash<Value>(of value: Value) -> Int {
        var hasher = Hasher()
        hash(value, into: &hasher, depth: 0)
        return hasher.finalize()
    }

    // MARK: Inside

    /// How deep values are looked into: a list may be as long as its user likes.
    private static let greatestDepth = 8

    private static func likeness(_ first: Any, _ second: Any, depth: Int) -> ArgumentLikeness {
        if let equatable = first as? any Equatable {
            return isEqual(equatable, to: second) || haveSameBits(first, second) ? .same : .different
        }
        guard type(of: first) == type(of: second) else { return .different }
        if isObject(first) { return first as AnyObject === second as AnyObject ? .same : .different }
        if haveSameBits(first, second) { return .same }
        // Room between the parts of a value is padding, and may differ: the parts are compared by themselves.
        switch (parts(of: first, depth), parts(of: second, depth)) {
        case (.known(let first), .known(let second)):
            guard first.count == second.count else { return .different }
            return zip(first, second).reduce(.same) { likeness, parts in
                likeness.and(
                    parts.0.label == parts.1.label
                        ? Self.likeness(parts.0.value, parts.1.value, depth: depth + 1) : .different)
            }
        case (.function, .function): return .unknown
        default: return .different
        }
    }

    private static func isEqual<Compared: Equatable>(_ first: Compared, to second: Any) -> Bool {
        first == (second as? Compared)
    }

    private static func isObject(_ value: Any) -> Bool { type(of: value) is AnyClass }

    private static func haveSameBits(_ first: Any, _ second: Any) -> Bool {
        type(of: first) == type(of: second) && bits(of: first) == bits(of: second)
    }

    /// The bits of a value itself, not of the box that it is in.
    private static func bits(of value: Any) -> [UInt8] {
        func bits<Value>(of value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        return _openExistential(value, do: bits)
    }

    private static func hash(_ value: Any, into hasher: inout Hasher, depth: Int) {
        if let value = value as? any Hashable {
            hasher.combine(value.hashValue)
            return
        }
        // What is equal may look otherwise in every part.
        if value is any Equatable { return }
        if isObject(value) { return hasher.combine(ObjectIdentifier(value as AnyObject)) }
        switch parts(of: value, depth) {
        case .known(let parts): for part in parts { hash(part.value, into: &hasher, depth: depth + 1) }
        case .function: break
        case .none: hasher.combine(bits(of: value))
        }
    }

    private enum Parts {
        /// The stored properties, or the associated values of an enumeration's case.
        case known([Mirror.Child])
        case function
        case none
    }

    private static func parts(of value: Any, _ depth: Int) -> Parts {
        if let optional = value as? any OptionalValue { return .known(optional.wrapped.map { [("some", $0)] } ?? []) }
        // A mirror of the user's own says what it likes.
        guard depth < greatestDepth, !(value is any CustomReflectable) else { return .none }
        let mirror = Mirror(reflecting: value)
        if !mirror.children.isEmpty { return .known(Array(mirror.children)) }
        return mirror.displayStyle == nil && !(value is any Any.Type) ? .function : .none
    }
}

/// An optional of any type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { map { $0 as Any } }
}
