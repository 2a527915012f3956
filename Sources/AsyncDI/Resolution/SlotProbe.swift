/// The key of a look-up, as slots are compared with it.
///
/// Asked inside a ``ReadEpoch``, where no code of the user's may run: what only the user's `==` can tell is left
/// undecided.
protocol SlotProbe {
    var hash: UInt { get }
    /// Whether it is this slot, whose key has the same hash.
    func match(_ slot: Slot) -> SlotMatch
}

enum SlotMatch {
    case same, other
    /// The answer without the user's `==`, as far as possible.
    case undecided
}

/// Looks for a service without qualifier and arguments: compares addresses.
struct TypeProbe: SlotProbe {
    let hash: UInt
    private let service: any Any.Type

    init(_ service: any Any.Type) {
        self.service = service
        hash = ServiceKey.fastHash(service)
    }

    func match(_ slot: Slot) -> SlotMatch { slot.key.service == service && slot.key.isPlain ? .same : .other }
}

/// Looks for a service with a qualifier, without making a key.
///
/// The caller, which knows its type, compares the qualifier once the read has ended.
@usableFromInline struct QualifierProbe: SlotProbe {
    let hash: UInt
    private let service: any Any.Type
    private let detailsType: ObjectIdentifier

    @usableFromInline init(_ service: any Any.Type, _ detailsType: KeyDetails.Type, _ qualifierHash: UInt) {
        self.service = service
        self.detailsType = ObjectIdentifier(detailsType)
        hash = ServiceKey.fastHash(service, detailsHash: qualifierHash)
    }

    /// Nil for a qualifier of a class: it may be an instance of a subclass, and such a request takes the long way.
    @inlinable init?<Name: Qualifier>(_ service: any Any.Type, of qualifier: Name) {
        if Name.self is AnyClass { return nil }
        self.init(service, QualifiedDetails<Name>.self, QualifiedDetails<Name>.hash(of: qualifier))
    }

    func match(_ slot: Slot) -> SlotMatch {
        guard slot.key.service == service, slot.key.arguments == nil, let details = slot.details,
            details._withUnsafeGuaranteedRef({ ObjectIdentifier(type(of: $0)) == detailsType && $0.isOfService }),
            !slot.isEmpty
        else { return .other }
        return .undecided
    }
}

/// Looks for a service without qualifier, with arguments: compares addresses.
struct ArgumentsProbe: SlotProbe {
    let hash: UInt
    private let service: any Any.Type
    private let arguments: ArgumentPack.Type

    init(_ service: any Any.Type, _ arguments: ArgumentPack.Type) {
        self.service = service
        self.arguments = arguments
        hash = ServiceKey.fastHash(service, arguments)
    }

    func match(_ slot: Slot) -> SlotMatch {
        slot.key.service == service && slot.key.arguments == arguments && slot.key.details == nil ? .same : .other
    }
}

/// Looks for any key.
struct KeyProbe: SlotProbe {
    let hash: UInt
    private let key: ServiceKey
    /// The answers of the user's `==`, with the details that they are about: no others come to lie where these were.
    private var verdicts = SmallMap<ObjectIdentifier, (details: KeyDetails, isEqual: Bool)>()

    init(_ key: ServiceKey) {
        self.key = key
        hash = key.fastHash
    }

    func match(_ slot: Slot) -> SlotMatch {
        guard slot.key.service == key.service, slot.key.arguments == key.arguments else { return .other }
        guard let details = key.details, let other = slot.key.details else {
            return key.details == nil && slot.key.details == nil ? .same : .other
        }
        if let isEqual = details.isKnown(toEqual: other) ?? verdicts[ObjectIdentifier(other)]?.isEqual {
            return isEqual ? .same : .other
        }
        // A key without a slot is not found.
        return slot.isEmpty ? .other : .undecided
    }

    /// Compares the undecided keys, outside every read and lock if that is possible, for the next look-up.
    mutating func decide(_ undecided: [KeyDetails]) {
        guard let details = key.details else { return }
        for other in undecided { verdicts[ObjectIdentifier(other)] = (other, details.isEqual(to: other)) }
    }
}

/// Looks for the slot of a key in the table of a container whose lock is held.
///
/// The details distinguish keys that share them; the user's `==` runs only where none do.
struct OwnSlotProbe: SlotProbe {
    let hash: UInt
    private let key: ServiceKey
    private let asksUser: Bool

    init(_ key: ServiceKey, hash: UInt, asksUser: Bool) {
        self.key = key
        self.hash = hash
        self.asksUser = asksUser
    }

    func match(_ slot: Slot) -> SlotMatch {
        guard slot.key.service == key.service, slot.key.arguments == key.arguments else { return .other }
        return slot.key.details === key.details || asksUser && slot.key == key ? .same : .other
    }
}
