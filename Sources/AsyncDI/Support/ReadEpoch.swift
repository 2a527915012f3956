import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Tells writers when no reader can still hold a pointer that they have unpublished.
///
/// Readers of published pointers bracket "load the pointer, retain what it points to" with ``enter()`` and
/// ``exit(_:)``: two atomic additions, no lock, no allocation. A writer swaps the pointer first, then calls
/// ``synchronize()``, then releases the old object.
///
/// This is the two-phase counting of sleepable read-copy-update (P. E. McKenney, "Sleepable Read-Copy Update", 2006),
/// with one pair of counters per stripe so that threads rarely share a cache line. Why it is safe: each counter is
/// exactly the number of readers inside with that parity on that stripe, so one that is seen at zero after the swap has
/// no reader from before the swap. A reader that read the parity before a flip, but counted itself after the writer
/// looked, loads its pointer after the swap; the *next* writer must still wait for it, which is why `synchronize` flips
/// and waits twice. All operations are sequentially consistent because the argument orders a reader's addition and load
/// against a writer's swap and read.
enum ReadEpoch {
    /// What ``enter()`` hands to ``exit(_:)``: the counter that was raised.
    struct Ticket {
        fileprivate let counter: Int
    }

    /// Begins a read.
    ///
    /// The code up to `exit` must not suspend and must not call user code.
    static func enter() -> Ticket {
        let parity = shared.parity.load(ordering: .relaxed)
        let counter = (stripe() * 2 + parity) * Storage.spacing
        shared.counters[counter].enter()
        return Ticket(counter: counter)
    }

    /// Ends a read.
    static func exit(_ ticket: Ticket) {
        shared.counters[ticket.counter].exit()
    }

    /// Returns when every read that began before this call has ended.
    ///
    /// Reads last nanoseconds, so this waits by yielding.
    static func synchronize() {
        shared.writers.withLock { count in
            count &+= 1
            for _ in 0..<2 {
                let old = shared.parity.load(ordering: .relaxed)
                shared.parity.store(1 - old, ordering: .sequentiallyConsistent)
                for stripe in 0..<Storage.stripes {
                    let counter = (stripe * 2 + old) * Storage.spacing
                    while !shared.counters[counter].isZero { sched_yield() }
                }
            }
        }
    }

    private static let shared = Storage()

    private static func stripe() -> Int {
        #if canImport(Darwin)
            let id = UInt(bitPattern: pthread_self())
        #else
            let id = UInt(pthread_self())
        #endif
        // Thread control blocks are aligned to large powers of two: the multiplication spreads their high bits.
        return Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 60) & (Storage.stripes - 1)
    }

    /// The counters, each on a cache line of its own.
    ///
    /// `@unchecked Sendable` because the pointer never changes and what it points to is atomic.
    private final class Storage: @unchecked Sendable {
        static let stripes = 16
        static let spacing = 16  // 16 × 8 bytes: two cache lines, which some processors fetch together.

        let parity = Atomic<Int>(0)
        let counters: UnsafeMutablePointer<Counter>
        /// One writer at a time; counts them. (Not `Locked(())`: ThreadSanitizer takes an empty value for its neighbour.)
        let writers = Locked(0)

        init() {
            counters = .allocate(capacity: Self.stripes * 2 * Self.spacing)
            for index in 0..<(Self.stripes * 2 * Self.spacing) { (counters + index).initialize(to: Counter()) }
        }
    }

    private struct Counter: ~Copyable {
        let readers = Atomic<Int>(0)

        borrowing func enter() { _ = readers.wrappingAdd(1, ordering: .sequentiallyConsistent) }
        borrowing func exit() { _ = readers.wrappingSubtract(1, ordering: .releasing) }
        var isZero: Bool { readers.load(ordering: .sequentiallyConsistent) == 0 }
    }
}
