/// The content of one key in one table: a registration (a ``Binding``), or only an instance, whose registration is
/// another table's.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has constants and an atomic.
///
/// Its conformance stands here: in a file without code that others call, it would be missing in a program that is
/// linked with a static library.
@usableFromInline class Slot: PublishedElement, @unchecked Sendable {
    final let key: ServiceKey
    /// The hash of the key.
    final let placeHash: UInt
    /// The instance that is ready.
    final let cell = AtomicReference<Cell>()
    /// Whether this is a ``Binding``.
    final let isRegistered: Bool

    /// Only a binding says that it is one.
    init(_ key: ServiceKey, isRegistered: Bool = false) {
        self.key = key
        placeHash = key.fastHash
        self.isRegistered = isRegistered
    }

    /// The details of the key, valid as long as this slot is: readers do not retain them, because that takes half as
    /// long as a hit.
    final var details: Unmanaged<KeyDetails>? { key.details.map { Unmanaged.passUnretained($0) } }

    /// This, if it is a registration, valid as long as this slot is.
    final var unretainedBinding: Unmanaged<Binding>? {
        // Unchecked because only bindings are registered.
        isRegistered ? Unmanaged.passUnretained(unsafeDowncast(self, to: Binding.self)) : nil
    }

    /// This, if it is a registration.
    final var binding: Binding? {
        // Unchecked because only bindings are registered, and a cast would be the longest part of a look-up.
        isRegistered ? unsafeDowncast(self, to: Binding.self) : nil
    }

    final var isEmpty: Bool { !isRegistered && cell.load() == nil }
}
