#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value behind its own lock.
///
/// Not `Synchronization.Mutex`, with which ThreadSanitizer reports false races on Linux.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // Unchecked because `mutex` protects every access to `value`, and the pointer itself never changes.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        let outcome = pthread_mutex_init(mutex, nil)
        precondition(outcome == 0, "pthread_mutex_init: \(outcome)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// A copy of the value as it is now.
    var current: Value { withLock { $0 } }

    func set(_ newValue: Value) {
        // The old value is released outside the lock: its `deinit` may call back.
        let old = withLock { value in
            let old = value
            value = newValue
            return old
        }
        withExtendedLifetime(old) {}
    }
}
