#if ASYNCDI_EXPLORATION && os(Linux)
    import Glibc

    /// A point at which threads could interleave, in a library that is compiled to explore schedules.
    ///
    /// Before and after every lock, and before every atomic operation of the instance table and of the read epochs.
    public enum SchedulePoint {
        /// The next action of a thread.
        public enum Kind: Int32, Sendable {
            /// Any action: other threads may go first.
            case pass = 1
            /// A wait for the lock at the address.
            case blocked = 2
            /// A wait for other threads to make progress.
            case waits = 3
            /// The release of the lock at the address.
            case released = 4
            /// It has the lock at the address.
            case acquired = 5
        }

        /// Called at each point.
        ///
        /// Unsafe because it is set before the first container is created, and only read from then on.
        nonisolated(unsafe) public static var hook: (@convention(c) (Int32, UnsafeRawPointer?) -> Void)?

        static func pass() { hook?(Kind.pass.rawValue, nil) }
        static func wait() { hook?(Kind.waits.rawValue, nil) }

        /// Locks without blocking the thread: the lock's owner is one of the threads that take turns.
        static func lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
            guard let hook else {
                pthread_mutex_lock(mutex)
                return
            }
            hook(Kind.pass.rawValue, nil)
            while pthread_mutex_trylock(mutex) != 0 { hook(Kind.blocked.rawValue, mutex) }
            hook(Kind.acquired.rawValue, mutex)
        }

        static func unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
            pthread_mutex_unlock(mutex)
            hook?(Kind.released.rawValue, mutex)
        }
    }
#endif
