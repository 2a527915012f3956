/// The result of comparing an argument with another of the same type.
enum ArgumentLikeness {
    case same, different
    /// Functions: each pass may wrap a value anew, so that nothing shows its identity.
    case unknown

    /// The likeness of two pairs, from those of their parts.
    func and(_ other: @autoclosure () -> ArgumentLikeness) -> ArgumentLikeness {
        if self == .different { return self }
        let other = other()
        return other == .same ? self : other
    }
}

/// Decides whether two arguments are the same, even without `Equatable`: distinguishes a cycle from a recursion that
/// ends.
///
/// Comparable values are the same when they are equal, and objects when they are identical. Other values are the same
/// when their bits, or all of their stored properties, are. Everything else is another argument. A value that does not
/// equal itself, such as NaN, is the same when its bits are.
enum ArgumentIdentity {
    static func likeness<Value>(_ first: Value, _ second: Value) -> ArgumentLikeness {
        likeness(first, second, depth: 0)
    }

    /// A hash that is the same for arguments that are not known to differ.
    static func hash<Value>(of value: Value) -> Int {
        var hasher = Hasher()
        hash(value, into: &hasher, depth: 0)
        return hasher.finalize()
    }

    // MARK: Inside

    /// The greatest depth of the comparison: a user's list may be arbitrarily long.
    private static let greatestDepth = 8

    private static func likeness(_ first: Any, _ second: Any, depth: Int) -> ArgumentLikeness {
        if let equatable = first as? any Equatable {
            return isEqual(equatable, to: second) || haveSameBits(first, second) ? .same : .different
        }
        guard type(of: first) == type(of: second) else { return .different }
        if isObject(first) { return first as AnyObject === second as AnyObject ? .same : .different }
        if haveSameBits(first, second) { return .same }
        // Padding between the parts of a value may differ, so the parts are compared one by one.
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

    /// The bits of a value itself, not of the box around it.
    private static func bits(of value: Any) -> [UInt8] {
        func bits<Value>(of value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        return _openExistential(value, do: bits)
    }

    private static func hash(_ value: Any, into hasher: inout Hasher, depth: Int) {
        if let value = value as? any Hashable {
            hasher.combine(value.hashValue)
            return
        }
        // Equal values may differ in every part.
        if value is any Equatable { return }
        if isObject(value) { return hasher.combine(ObjectIdentifier(value as AnyObject)) }
        switch parts(of: value, depth) {
        case .known(let parts): for part in parts { hash(part.value, into: &hasher, depth: depth + 1) }
        case .function: break
        case .none: hasher.combine(bits(of: value))
        }
    }

    private enum Parts {
        /// The stored properties, or the associated values of an enumeration case.
        case known([Mirror.Child])
        case function
        case none
    }

    private static func parts(of value: Any, _ depth: Int) -> Parts {
        if let optional = value as? any OptionalValue { return .known(optional.wrapped.map { [("some", $0)] } ?? []) }
        // A custom mirror need not show the stored properties.
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
