#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A value behind a lock: every access goes through ``withLock(_:)``.
///
/// `Synchronization.Mutex` is not used because on Linux it convoys when threads outnumber cores and makes
/// ThreadSanitizer report races that are none; a plain system mutex does neither.
///
/// Never call user code or resume a continuation inside `withLock`, and never take two of these in an order other than
/// container, then graph of waits or queue of events.
///
/// `@unchecked Sendable` because `value` is touched only between `acquire` and `release` of `primitive`; a breach shows
/// in any stress test under ThreadSanitizer.
final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let primitive: UnsafeMutablePointer<Primitive>

    init(_ value: Value) {
        self.value = value
        primitive = .allocate(capacity: 1)
        primitive.initialize(to: Primitive())
        #if !canImport(Darwin)
            pthread_mutex_init(primitive, nil)
        #endif
    }

    deinit {
        #if !canImport(Darwin)
            pthread_mutex_destroy(primitive)
        #endif
        primitive.deinitialize(count: 1)
        primitive.deallocate()
    }

    /// Runs `body` with the value while no other thread has it.
    func withLock<R, Failure: Error>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        acquire()
        defer { release() }
        return try body(&value)
    }

    #if canImport(Darwin)
        private typealias Primitive = os_unfair_lock
        private func acquire() { os_unfair_lock_lock(primitive) }
        private func release() { os_unfair_lock_unlock(primitive) }
    #else
        private typealias Primitive = pthread_mutex_t
        private func acquire() { pthread_mutex_lock(primitive) }
        private func release() { pthread_mutex_unlock(primitive) }
    #endif
}
