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

/// Lets other threads run; on a single thread, no other one exists.
func yieldThread() {
    #if ASYNCDI_EXPLORATION && os(Linux)
        SchedulePoint.wait()
    #elseif _runtime(_multithreaded)
        sched_yield()
    #endif
}

#if canImport(Darwin)
    typealias SystemMutex = os_unfair_lock

    extension UnsafeMutablePointer<os_unfair_lock> {
        func initializeMutex() { initialize(to: os_unfair_lock()) }
        func destroyMutex() { deinitialize(count: 1) }
        func lockMutex() { os_unfair_lock_lock(self) }
        func unlockMutex() { os_unfair_lock_unlock(self) }
    }
#elseif _runtime(_multithreaded)
    typealias SystemMutex = pthread_mutex_t

    extension UnsafeMutablePointer<pthread_mutex_t> {
        func initializeMutex() {
            initialize(to: pthread_mutex_t())
            pthread_mutex_init(self, nil)
        }
        func destroyMutex() {
            pthread_mutex_destroy(self)
            deinitialize(count: 1)
        }
        func lockMutex() { pthread_mutex_lock(self) }
        func unlockMutex() { pthread_mutex_unlock(self) }
    }
#else
    /// One thread has no contention.
    struct SystemMutex {}

    extension UnsafeMutablePointer<SystemMutex> {
        func initializeMutex() { initialize(to: SystemMutex()) }
        func destroyMutex() { deinitialize(count: 1) }
        func lockMutex() {}
        func unlockMutex() {}
    }
#endif

#if _runtime(_multithreaded)
    /// Nil where the system has no more keys: a thread's value is then always nil.
    private let threadKey: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// A value of the current thread.
    var threadValue: UnsafeMutableRawPointer? {
        get { threadKey.flatMap { pthread_getspecific($0) } }
        set { if let threadKey { pthread_setspecific(threadKey, newValue) } }
    }
#else
    /// Unsafe because only one thread exists.
    nonisolated(unsafe) var threadValue: UnsafeMutableRawPointer?
#endif
