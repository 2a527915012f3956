#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Bionic)
    import Bionic
#elseif canImport(WASILibc)
    import WASILibc
    #if canImport(wasi_pthread)
        import wasi_pthread
    #endif
#endif

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
struct Locked<Value>: @unchecked Sendable {
    private let storage: Storage<Value>

    init(_ value: Value) { storage = .make(value) }

    /// Runs `body` with the value while no other thread has it.
    func withLock<R, Failure: Error>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        try storage.withLock(body)
    }
}

/// The value and its mutex in one allocation: the mutex behind the value, where its address never changes.
private final class Storage<Value>: ManagedBuffer<Value, Mutex> {
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
        #if ASYNCDI_EXPLORATION && os(Linux)
            SchedulePoint.pass()
        #endif
        mutex.lockMutex()
        defer { mutex.unlockMutex() }
        return try body(&value.pointee)
    }
}

#if canImport(Darwin)
    private typealias Mutex = os_unfair_lock

    extension UnsafeMutablePointer<os_unfair_lock> {
        fileprivate func initializeMutex() { initialize(to: os_unfair_lock()) }
        fileprivate func destroyMutex() { deinitialize(count: 1) }
        fileprivate func lockMutex() { os_unfair_lock_lock(self) }
        fileprivate func unlockMutex() { os_unfair_lock_unlock(self) }
    }
#elseif _runtime(_multithreaded)
    private typealias Mutex = pthread_mutex_t

    extension UnsafeMutablePointer<pthread_mutex_t> {
        fileprivate func initializeMutex() {
            initialize(to: pthread_mutex_t())
            pthread_mutex_init(self, nil)
        }
        fileprivate func destroyMutex() {
            pthread_mutex_destroy(self)
            deinitialize(count: 1)
        }
        fileprivate func lockMutex() { pthread_mutex_lock(self) }
        fileprivate func unlockMutex() { pthread_mutex_unlock(self) }
    }
#else
    /// One thread has no contention.
    private struct Mutex {}

    extension UnsafeMutablePointer<Mutex> {
        fileprivate func initializeMutex() { initialize(to: Mutex()) }
        fileprivate func destroyMutex() { deinitialize(count: 1) }
        fileprivate func lockMutex() {}
        fileprivate func unlockMutex() {}
    }
#endif
