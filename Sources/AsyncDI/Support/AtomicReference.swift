import Synchronization

/// A reference that readers follow without a lock, inside a ``ReadEpoch``.
///
/// The reference owns one retain of its object. A writer that takes the old object out keeps it until
/// ``ReadEpoch/synchronize()`` has returned: a reader may just have loaded it.
///
/// `@unchecked Sendable` because the pointer is atomic and the object is `Sendable` itself.
struct AtomicReference<Object: AnyObject>: ~Copyable {
    private let bits: Atomic<UnsafeRawPointer?>

    init(_ object: Object? = nil) {
        // Retained by hand because an atomic holds bits only: `deinit` or `exchange` balances the retain.
        bits = Atomic(object.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) })
    }

    deinit {
        // Released because the reference owns one retain, and every reader is gone.
        if let pointer = bits.load(ordering: .acquiring) { Unmanaged<Object>.fromOpaque(pointer).release() }
    }

    /// The object, valid until the reader leaves its epoch.
    func load() -> Unmanaged<Object>? {
        schedulePoint()
        // Unretained because a writer that takes the object out keeps it until the read has ended. The optimizer cannot
        // move that end forward: it is an atomic change of memory that other threads see. Sequentially consistent: a
        // reader's load must not move before its entry into the epoch.
        return bits.load(ordering: .sequentiallyConsistent).map { Unmanaged<Object>.fromOpaque($0) }
    }

    /// The object, retained: for writers, which hold the lock of this reference, and for objects that are never
    /// replaced.
    var object: Object? {
        // Otherwise the reference's owner, which owns the object, could end between the load and the retain.
        defer { withExtendedLifetime(self) {} }
        return load()?.takeUnretainedValue()
    }

    /// The object, created at the first call; it stays as long as this reference.
    ///
    /// Of several objects created concurrently, one stays.
    func loadOrInitialize(_ make: () -> Object) -> Object {
        // For the same reason as in `object`.
        defer { withExtendedLifetime(self) {} }
        if let object { return object }
        // Retained by hand because the exchange below takes over the retain; a thread that loses the exchange releases
        // its own.
        let new = UnsafeRawPointer(Unmanaged.passRetained(make()).toOpaque())
        schedulePoint()
        let (exchanged, original) = bits.compareExchange(
            expected: nil, desired: new, ordering: .sequentiallyConsistent)
        if !exchanged { Unmanaged<Object>.fromOpaque(new).release() }
        return Unmanaged<Object>.fromOpaque(exchanged ? new : original!).takeUnretainedValue()
    }

    /// Takes the object out where no other code can use this reference any more: in the deinitializer of its owner.
    func takeAtEnd() -> Object? {
        guard let pointer = bits.load(ordering: .acquiring) else { return nil }
        bits.store(nil, ordering: .relaxed)
        // Takes over the retain that this reference owned.
        return Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }

    /// Publishes another object and returns the old one, which must outlive every reader that may have loaded it.
    func exchange(_ object: Object?) -> Object? {
        // Retained by hand because the exchange stores one retain, and returns that of the old object.
        let new = object.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) }
        schedulePoint()
        return bits.exchange(new, ordering: .sequentiallyConsistent)
            .map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
    }
}

/// `@unchecked Sendable` because the pointer is atomic and its object is `Sendable`.
extension AtomicReference: @unchecked Sendable where Object: Sendable {}
