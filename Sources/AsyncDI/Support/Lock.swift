/// A value behind a lock: every access goes through ``withLock(_:)``.
///
/// Copies share the value.
///
/// `Synchronization.Mutex` is not used because on Linux it convoys when threads outnumber cores, and because
/// ThreadSanitizer reports false races with it; a plain system mutex has neither problem.
///
/// Never call user code or resume a continuation inside `withLock`. Nested locks follow one order: container, its
/// parent, graph of waits. The middle one occurs when a handle created for observers looks for its parent's.
///
/// `@unchecked Sendable` because the value is touched only while the mutex beside it is held; a breach shows in any
/// stress test under ThreadSanitizer.
package struct Locked<Value>: @unchecked Sendable {
    private let storage: Storage<Value>

    /// - Parameter value: Must have a size. A value without one would lie at the address of the object that holds it,
    ///   where ThreadSanitizer takes its accesses for a race with readers of the object's type.
    package init(_ value: Value) {
        assert(MemoryLayout<Value>.size > 0, "A value behind a lock needs a size.")
        storage = .make(value)
    }

    /// Runs `body` with the value while no other thread has it.
    package func withLock<R, Failure: Error>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        try storage.withLock(body)
    }
}

/// The value and its mutex in one allocation: the mutex behind the value, where its address never changes.
private final class Storage<Value>: ManagedBuffer<Value, SystemMutex> {
    static func make(_ value: Value) -> Storage {
        let buffer = Self.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { $0.initializeMutex() }
            return value
        }
        // Unchecked because `create` returns an object of the class that it is called on.
        return unsafeDowncast(buffer, to: Storage.self)
    }

    deinit { withUnsafeMutablePointerToElements { $0.destroyMutex() } }

    func withLock<R, Failure: Error>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        let (value, mutex) = withUnsafeMutablePointers { ($0, $1) }
        // The pointers are valid as long as the buffer, which the caller holds.
        defer { withExtendedLifetime(self) {} }
        schedulePoint()
        mutex.lockMutex()
        defer { mutex.unlockMutex() }
        return try body(&value.pointee)
    }
}
