import Synchronization

/// A strong reference that is given up once, while other threads may be reading it.
///
/// The last user, its owner or a reader, releases the object: no thread waits, and nothing is allocated.
///
/// `@unchecked Sendable` because the pointer is constant, and ``state`` says which thread may follow it.
struct PassingReference<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
    // Retained by hand because the side that sets the released bit balances the retain.
    private let object: Unmanaged<Object>?
    /// The number of readers, above two bits.
    private let state = Atomic<UInt32>(0)
    private static var isGivenUp: UInt32 { 1 }
    private static var isReleased: UInt32 { 2 }
    private static var reader: UInt32 { 4 }

    init(_ object: Object?) { self.object = object.map { Unmanaged.passRetained($0) } }

    deinit {
        if state.load(ordering: .acquiring) & Self.isReleased == 0 { object?.release() }
    }

    /// Whether it was created without an object.
    var isEmpty: Bool { object == nil }

    /// The object, nil after it was given up.
    func load() -> Object? {
        guard let object else { return nil }
        let before = state.wrappingAdd(Self.reader, ordering: .acquiringAndReleasing).oldValue
        // Unretained because the object is not released while a reader is counted that came before it was given up.
        let found = before & Self.isGivenUp == 0 ? object.takeUnretainedValue() : nil
        state.wrappingSubtract(Self.reader, ordering: .acquiringAndReleasing)
        releaseIfUnused(object)
        return found
    }

    /// Releases the object; not to be called under a lock, because its deinitializer may be user code.
    func giveUp() {
        guard let object else { return }
        state.bitwiseOr(Self.isGivenUp, ordering: .acquiringAndReleasing)
        releaseIfUnused(object)
    }

    /// Takes the object out where no other code can use this reference any more: in the deinitializer of its owner.
    func takeAtEnd() -> Object? {
        guard let object, state.load(ordering: .acquiring) & Self.isReleased == 0 else { return nil }
        state.store(Self.isReleased, ordering: .relaxed)
        // Takes over the retain that this reference owned.
        return object.takeRetainedValue()
    }

    private func releaseIfUnused(_ object: Unmanaged<Object>) {
        let (isLast, _) = state.compareExchange(
            expected: Self.isGivenUp, desired: Self.isGivenUp | Self.isReleased, ordering: .acquiringAndReleasing)
        if isLast { object.release() }
    }
}
