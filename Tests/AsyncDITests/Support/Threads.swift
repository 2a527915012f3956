import Dispatch

@testable import AsyncDI

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Runs a body on as many threads of the system at once, more than the pool of tasks has, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    let left = Locked(count)
    await withCheckedContinuation { continuation in
        for number in 0..<count {
            startThread {
                body(number)
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { continuation.resume() }
            }
        }
    }
}

/// Whether the current code occupies the main actor: it runs in a job of the main queue.
///
/// The thread says nothing: the pool's threads may serve the main queue, too.
var occupiesMainActor: Bool { DispatchQueue.getSpecific(key: mainQueueMark) == true }

private let mainQueueMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

/// Lets other threads run: a thread that waits by asking again must not take the processor from those it waits for.
func yieldThread() { usleep(1000) }

/// The processor time that a synchronous body takes, without that of the code that interrupts it.
func processorTime(_ body: () -> Void) -> Duration {
    func used() -> Duration {
        // The two words of a `timespec`, whose members the compiler does not always find in the imported module.
        var time = (seconds: 0, nanoseconds: 0)
        withUnsafeMutablePointer(to: &time) {
            _ = clock_gettime(
                CLOCK_THREAD_CPUTIME_ID, UnsafeMutableRawPointer($0).assumingMemoryBound(to: timespec.self))
        }
        return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
    }
    let start = used()
    body()
    return used() - start
}

/// Blocks threads, however many, until it is opened; those that come later pass.
///
/// Waiting threads take no processor time.
final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

/// The argument of a new thread.
private final class ThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) {
    let pointer = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    // A number there, a pointer elsewhere.
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    let code = pthread_create(&thread, nil, { runThread($0) }, pointer)
    precondition(code == 0, "a thread could not be started")
    #if canImport(Glibc)
        pthread_detach(thread)
    #else
        if let thread { pthread_detach(thread) }
    #endif
}

private func runThread(_ handed: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let handed { Unmanaged<ThreadBody>.fromOpaque(handed).takeRetainedValue().run() }
    return nil
}

/// An object that counts how many of its kind live, and notices when it is used after its end.
///
/// `@unchecked Sendable` because `isAlive` is written once, when no other code may use it any more.
final class Mortal: @unchecked Sendable {
    let number: Int
    private(set) var isAlive = true
    private let count: Locked<Int>

    init(_ number: Int, counting count: Locked<Int>) {
        self.number = number
        self.count = count
        count.withLock { $0 += 1 }
    }

    deinit {
        isAlive = false
        count.withLock { $0 -= 1 }
    }
}

/// A number of the current task.
func currentTask() -> Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }
