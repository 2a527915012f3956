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
#if canImport(ObjectiveC)
    import ObjectiveC
#endif

#if !_runtime(_multithreaded) || ASYNCDI_EXPLORATION
    /// Replaces the threads where only one exists, or where one explores all schedules: each job is a task.
    final class BlockingThreads: Sendable {
        static let shared = BlockingThreads()

        /// Runs a job, soon.
        func run(_ job: @escaping @Sendable () -> Void) { Task.detached { job() } }

        /// Does nothing: a pause would stop everything else.
        static func nap() {}
    }
#else
    /// Threads for blocking code, kept off the cooperative pool: as many as block at once.
    ///
    /// A job never waits for another one: it runs on an idle thread, or else on a new one. A thread that has been idle
    /// for a second ends.
    ///
    /// `@unchecked Sendable` because the state is touched only while the mutex is held. It is a plain mutex, not a
    /// ``Locked``, because a condition variable needs one.
    final class BlockingThreads: @unchecked Sendable {
        static let shared = BlockingThreads()

        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        /// Signaled once for each job that an idle thread is to take.
        private let jobAdded = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        /// Jobs that no thread has taken yet: never more than there are idle threads.
        private var jobs: [@Sendable () -> Void] = []
        /// The number of idle threads, including those that are about to start.
        private var idleCount = 0

        private init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            jobAdded.initialize(to: pthread_cond_t())
            pthread_cond_init(jobAdded, nil)
        }

        /// Runs a job on a thread that it may block, soon.
        func run(_ job: @escaping @Sendable () -> Void) {
            pthread_mutex_lock(mutex)
            jobs.append(job)
            let needsThread = jobs.count > idleCount
            if needsThread { idleCount += 1 } else { pthread_cond_signal(jobAdded) }
            pthread_mutex_unlock(mutex)
            if needsThread, !startThread({ self.work() }) { runWithoutThread() }
        }

        /// Stops the thread of a job for a millisecond.
        static func nap() {
            var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
            nanosleep(&time, nil)
        }

        /// For a system without more threads: a task's thread is better than none.
        private func runWithoutThread() {
            pthread_mutex_lock(mutex)
            idleCount -= 1
            // Another thread may have become idle and taken it.
            let job = jobs.count > idleCount ? jobs.removeFirst() : nil
            pthread_mutex_unlock(mutex)
            if let job { Task.detached { job() } }
        }

        /// Performs jobs until none came for a second.
        private func work() {
            while performNext() {
                pthread_mutex_lock(mutex)
                idleCount += 1
                pthread_mutex_unlock(mutex)
            }
        }

        /// Performs the next job and releases it; false when none came.
        ///
        /// A job holds user values, whose deinitializers may block: the thread counts as idle, and takes the mutex,
        /// only after that.
        private func performNext() -> Bool {
            guard let job = nextJob() else { return false }
            #if canImport(ObjectiveC)
                autoreleasepool { job() }
            #else
                job()
            #endif
            return true
        }

        /// The next job; nil when none came in time.
        ///
        /// The calling thread counts as idle until then.
        private func nextJob() -> (@Sendable () -> Void)? {
            pthread_mutex_lock(mutex)
            defer {
                idleCount -= 1
                pthread_mutex_unlock(mutex)
            }
            var deadline = timespec()
            clock_gettime(CLOCK_REALTIME, &deadline)
            deadline.tv_sec += 1
            while jobs.isEmpty {
                // The time is up, and no job came at the last moment.
                if pthread_cond_timedwait(jobAdded, mutex, &deadline) != 0, jobs.isEmpty { return nil }
            }
            return jobs.removeFirst()
        }
    }

    /// The argument of a new thread.
    private typealias ThreadBody = Shared<@Sendable () -> Void>

    /// Starts a detached thread; false when the system has none left.
    private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Retained by hand because the system passes on an address only: the thread takes the retain over, or this
        // function when no thread starts.
        let handed = Unmanaged.passRetained(ThreadBody(body))
        // A number on these systems, a pointer on others.
        #if canImport(Glibc) || canImport(Android) || canImport(Bionic)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        let code = pthread_create(
            &thread, nil,
            {
                runThread($0)
                // The thread is detached, and this is not used: it has the type that the system at hand wants, optional
                // or not.
                return $0
            }, handed.toOpaque())
        guard code == 0 else {
            handed.release()
            return false
        }
        #if canImport(Glibc) || canImport(Android) || canImport(Bionic)
            pthread_detach(thread)
        #else
            if let thread { pthread_detach(thread) }
        #endif
        return true
    }

    private func runThread(_ handed: UnsafeMutableRawPointer?) {
        // Takes over the starter's retain.
        if let handed { Unmanaged<ThreadBody>.fromOpaque(handed).takeRetainedValue().value() }
    }
#endif
