/// What one key has in one table: a registration (a ``Recipe``), or only an instance, whose registration is another table's.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has constants and an atomic.
@usableFromInline class Slot: @unchecked Sendable {
    final let key: ServiceKey
    /// The instance that is ready.
    final let cell = AtomicReference<Cell>()
    /// Whether this is a ``Recipe``.
    final let isRegistered: Bool

    /// Only a recipe says that it is one.
    init(_ key: ServiceKey, isRegistered: Bool = false) {
        self.key = key
        self.isRegistered = isRegistered
    }

    /// The details of the key, valid as long as this slot is.
    final var details: Unmanaged<KeyDetails>? { key.details.map { Unmanaged.passUnretained($0) } }

    /// The registration, valid as long as this slot is.
    final var recipe: Unmanaged<Recipe>? {
        // Unchecked because only recipes are registered, and a cast would be the longest part of a look-up.
        isRegistered ? Unmanaged.passUnretained(unsafeDowncast(self, to: Recipe.self)) : nil
    }

    final var isEmpty: Bool { !isRegistered && cell.load() == nil }
}

/// What a slot is looked for by.
@usableFromInline protocol SlotProbe {
    var hash: UInt { get }
    /// Whether it is this slot, whose key has the same hash.
    func matches(_ slot: Slot) -> Bool
}

/// Looks for a service without qualifier and arguments: compares addresses.
struct TypeProbe: SlotProbe {
    let hash: UInt
    private let service: any Any.Type

    init(_ service: any Any.Type) {
        self.service = service
        hash = ServiceKey.fastHash(plain: service)
    }

    func matches(_ slot: Slot) -> Bool { slot.key.service == service && slot.key.isPlain }
}

/// Looks for a service with a qualifier, without making a key.
///
/// What depends on the qualifier's type is made where the type is known: no generic code runs.
@usableFromInline struct QualifierProbe: SlotProbe {
    @usableFromInline let hash: UInt
    private let service: any Any.Type
    private let detailsType: ObjectIdentifier
    private let isEqual: (Unmanaged<KeyDetails>, UnsafeRawPointer) -> Bool
    private let qualifier: UnsafeRawPointer

    /// A probe that is valid as long as the pointer to the qualifier.
    @usableFromInline
    init(
        _ service: any Any.Type, _ detailsType: KeyDetails.Type, _ qualifierHash: UInt, _ qualifier: UnsafeRawPointer,
        isEqual: @escaping (Unmanaged<KeyDetails>, UnsafeRawPointer) -> Bool
    ) {
        self.service = service
        self.detailsType = ObjectIdentifier(detailsType)
        self.isEqual = isEqual
        self.qualifier = qualifier
        hash = ServiceKey.fastHash(service, qualifierHash: qualifierHash)
    }

    @usableFromInline
    func matches(_ slot: Slot) -> Bool {
        guard slot.key.service == service, slot.key.arguments == nil, let details = slot.details,
            details._withUnsafeGuaranteedRef({ ObjectIdentifier(type(of: $0)) == detailsType && $0.isOfService })
        else { return false }
        return isEqual(details, qualifier)
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

    func matches(_ slot: Slot) -> Bool {
        slot.key.service == service && slot.key.arguments == arguments && slot.key.details == nil
    }
}

/// Looks for any key.
struct KeyProbe: SlotProbe {
    let hash: UInt
    private let key: ServiceKey

    init(_ key: ServiceKey) {
        self.key = key
        hash = key.fastHash
    }

    func matches(_ slot: Slot) -> Bool { slot.key == key }
}

/// A power of two of places for slots, each of which stays with its key once it is taken.
///
/// `@unchecked Sendable` because the pointer never changes, the references are atomic, and a place's hash is written once, before the
/// reference that makes readers look at it.
final class SlotArray: @unchecked Sendable {
    private struct Place: ~Copyable {
        let slot = AtomicReference<Slot>()
        /// Kept beside the slot, so that those of other keys are passed without being read.
        var hash: UInt = 0
    }

    let capacity: Int
    private let places: UnsafeMutablePointer<Place>

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        for index in 0..<capacity { (places + index).initialize(to: Place()) }
    }

    deinit {
        places.deinitialize(count: capacity)
        places.deallocate()
    }

    func slot(_ probe: some SlotProbe) -> Unmanaged<Slot>? { find(probe)?.slot }

    private func find(_ probe: some SlotProbe) -> (slot: Unmanaged<Slot>, index: Int)? {
        let (places, mask) = (places, capacity - 1)
        var index = Int(truncatingIfNeeded: probe.hash) & mask
        while let slot = places[index].slot.load() {
            if places[index].hash == probe.hash, slot._withUnsafeGuaranteedRef({ probe.matches($0) }) {
                return (slot, index)
            }
            index = (index + 1) & mask
        }
        return nil
    }

    // MARK: Writing: one at a time

    /// Puts a slot where its key has its place; nil when it has none yet.
    func replace(_ slot: Slot, where probe: KeyProbe) -> Slot? {
        find(probe).flatMap { places[$0.index].slot.exchange(slot) }
    }

    /// Gives the key of a slot its place; at least one stays free.
    func insert(_ slot: Slot, hash: UInt) {
        var index = Int(truncatingIfNeeded: hash) & (capacity - 1)
        while places[index].slot.load() != nil { index = (index + 1) & (capacity - 1) }
        places[index].hash = hash
        _ = places[index].slot.exchange(slot)
    }

    /// Every slot, with the hash of its key.
    func forEach(_ body: (Slot, _ hash: UInt) -> Void) {
        for index in 0..<capacity {
            places[index].slot.load()?._withUnsafeGuaranteedRef { body($0, places[index].hash) }
        }
    }
}
