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
        // Retained by hand because an atomic holds bits only: this reference gives the retain back in `deinit` or
        // `exchange`.
        bits = Atomic(object.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) })
    }

    deinit {
        // Released because the reference owns one retain, and every reader is gone.
        if let pointer = bits.load(ordering: .acquiring) { Unmanaged<Object>.fromOpaque(pointer).release() }
    }

    /// The object, valid until the reader leaves its epoch.
    func load() -> Unmanaged<Object>? {
        #if ASYNCDI_EXPLORATION && os(Linux)
            SchedulePoint.pass()
        #endif
        // Unretained because a writer that takes the object out keeps it until the read has ended, which the optimizer
        // cannot bring forward: the end is an atomic change of memory that others see, and nothing is moved across it.
        // Sequentially consistent: a reader's load must not move before its entry into the epoch.
        return bits.load(ordering: .sequentiallyConsistent).map { Unmanaged<Object>.fromOpaque($0) }
    }

    /// The object, retained: for writers, which hold the lock of this reference, and for objects that are never replaced.
    var object: Object? {
        // Without this the owner of the reference, which owns the object, could go between the load and the retain.
        defer { withExtendedLifetime(self) {} }
        return load()?.takeUnretainedValue()
    }

    /// The object, made now if there is none yet; it stays as long as this reference.
    ///
    /// Of several that are made at once one stays.
    func loadOrInitialize(_ make: () -> Object) -> Object {
        // For the same reason as in `object`.
        defer { withExtendedLifetime(self) {} }
        if let object { return object }
        // Retained by hand because the exchange below hands the retain over; a thread that loses the exchange returns its
        // own.
        let new = UnsafeRawPointer(Unmanaged.passRetained(make()).toOpaque())
        #if ASYNCDI_EXPLORATION && os(Linux)
            SchedulePoint.pass()
        #endif
        let (exchanged, original) = bits.compareExchange(
            expected: nil, desired: new, ordering: .sequentiallyConsistent)
        if !exchanged { Unmanaged<Object>.fromOpaque(new).release() }
        return Unmanaged<Object>.fromOpaque(exchanged ? new : original!).takeUnretainedValue()
    }

    /// Takes the object out where no other code can reach this reference any more: in the deinitializer of its owner.
    func takeAtEnd() -> Object? {
        guard let pointer = bits.load(ordering: .acquiring) else { return nil }
        bits.store(nil, ordering: .relaxed)
        // Retained by the one that this reference owned.
        return Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }

    /// Publishes another object and gives back the old one, which must outlive every reader that may have loaded it.
    func exchange(_ object: Object?) -> Object? {
        // Retained by hand because the exchange hands one retain over, and takes the old object's out.
        let new = object.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) }
        #if ASYNCDI_EXPLORATION && os(Linux)
            SchedulePoint.pass()
        #endif
        return bits.exchange(new, ordering: .sequentiallyConsistent)
            .map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
    }
}

/// `@unchecked Sendable` because the pointer is atomic and what it points to is `Sendable`.
extension AtomicReference: @unchecked Sendable where Object: Sendable {}
