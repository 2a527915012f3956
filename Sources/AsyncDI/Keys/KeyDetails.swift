/// The uncommon parts of a key: a role or, in the subclass, a qualifier; created once and shared by the copies of a
/// key.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has constants.
@usableFromInline class KeyDetails: @unchecked Sendable {
    final let role: ServiceKey.Role
    /// Cached, because hashing a qualifier takes longer than everything else.
    final let hash: UInt

    final var isOfService: Bool {
        if case .service = role { true } else { false }
    }

    /// The qualifier, if there is one.
    var qualifier: (any Qualifier)? { nil }
    func hasQualifier(of other: KeyDetails) -> Bool { other.qualifier == nil }

    init(_ role: ServiceKey.Role, qualifierHash: UInt = 0) {
        self.role = role
        hash =
            switch role {
            case .service: qualifierHash
            case .making: ~qualifierHash
            case .contribution(let id): qualifierHash &+ UInt(bitPattern: id.hash) &* 31
            }
    }

    /// The hash of the qualifier alone, without calling its code again.
    final var qualifierHash: UInt {
        switch role {
        case .service: hash
        case .making: ~hash
        case .contribution(let id): hash &- UInt(bitPattern: id.hash) &* 31
        }
    }

    @usableFromInline
    init(qualifierHash: UInt) {
        role = .service
        hash = qualifierHash
    }

    /// The details of a key, nil for a plain one.
    static func of(_ qualifier: (any Qualifier)?, _ role: ServiceKey.Role) -> KeyDetails? {
        func qualified<Name: Qualifier>(_ name: Name) -> KeyDetails { QualifiedDetails(name, role) }
        if let qualifier { return qualified(qualifier) }
        if case .service = role { return nil }
        return KeyDetails(role)
    }

    /// The details of a qualifier of any type.
    @usableFromInline
    static func of(_ qualifier: any Qualifier) -> KeyDetails? { of(qualifier, .service) }

    /// Whether both belong to the same key: runs the user's `==` of qualifiers and of the keys of contributions.
    final func isEqual(to other: KeyDetails) -> Bool {
        isKnown(toEqual: other) ?? (role == other.role && hasQualifier(of: other))
    }

    /// The same without user code, nil where only user code can decide.
    final func isKnown(toEqual other: KeyDetails) -> Bool? {
        if self === other { return true }
        guard hash == other.hash else { return false }
        switch (role, other.role) {
        case (.service, .service), (.making, .making):
            // Without a qualifier, the role is all that they have.
            return type(of: self) == KeyDetails.self && type(of: other) == KeyDetails.self ? true : nil
        case (.contribution, .contribution): return nil
        default: return false
        }
    }
}

/// The details of a key with a qualifier.
///
/// Its type determines the qualifier's, so that neither is cast: a cast takes several times as long as the comparison.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant of a `Sendable` type.
@usableFromInline final class QualifiedDetails<Name: Qualifier>: KeyDetails, @unchecked Sendable {
    @usableFromInline let name: Name

    /// Creates the details of a key with the common role.
    @inlinable
    init(_ name: Name) {
        self.name = name
        super.init(qualifierHash: Self.hash(of: name))
    }

    fileprivate init(_ name: Name, _ role: ServiceKey.Role) {
        self.name = name
        super.init(role, qualifierHash: Self.hash(of: name))
    }

    /// The type counts too: cases of different enumerations often have the same hash.
    @inlinable
    static func hash(of name: Name) -> UInt {
        UInt(bitPattern: ObjectIdentifier(type(of: name) as any Any.Type)) &* 31 &+ UInt(bitPattern: name.hashValue)
    }

    /// The qualifier in the details of a slot that a ``QualifierProbe`` for this type has found.
    @inlinable
    static func name(in details: KeyDetails) -> Name {
        // Unchecked because the probe has compared the type of the details.
        unsafeDowncast(details, to: Self.self).name
    }

    override var qualifier: (any Qualifier)? { name }
    override func hasQualifier(of other: KeyDetails) -> Bool {
        // An instance of a subclass may be here as one of its superclass.
        if Name.self is AnyClass { return areEqual(qualifier, other.qualifier) }
        // Unchecked because it is of this very type.
        return type(of: other) == Self.self && unsafeDowncast(other, to: Self.self).name == name
    }
}
