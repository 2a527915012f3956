import Synchronization

/// Lets writers wait until no reader can still hold a pointer that they have unpublished.
///
/// Readers of published pointers bracket "load the pointer, retain what it points to" with ``enter()`` and
/// ``Ticket/exit()``: two atomic additions, no lock, no allocation. A writer swaps the pointer first, then calls
/// ``synchronize()``, then releases the old object.
///
/// This is the two-phase counting of sleepable read-copy-update (P. E. McKenney, "Sleepable Read-Copy Update", 2006),
/// with one pair of counters per stripe so that threads rarely share a cache line. Why it is safe: each counter is
/// exactly the number of readers inside with that parity on that stripe, so one that is seen at zero after the swap has
/// no reader from before the swap. A reader that read the parity before a flip, but counted itself after the writer
/// looked, loads its pointer after the swap; the *next* writer must still wait for it, which is why `synchronize` flips
/// and waits twice. All operations are sequentially consistent because the argument orders a reader's addition and load
/// against a writer's swap and read.
///
/// Writers share these grace periods: all that come while one period is under way wait for the next one, which one of
/// them performs. Otherwise each would visit the counters, whose cache lines belong to the readers' processors, while
/// the others wait. A writer must not rely on the period that is under way, because that may have passed a counter
/// before the writer's swap.
///
/// `@unchecked Sendable` because the pointer never changes and its counters are atomic.
final class ReadEpoch: @unchecked Sendable {
    /// The one epoch of the process: a table refers to it, because each access to a global costs a call.
    static let shared = ReadEpoch()

    private static let stripes = 16
    private static let spacing = 16  // 16 × 8 bytes: two cache lines, which some processors fetch together.

    private let parity = Atomic<Int>(0)
    /// One counter for each stripe and parity, each on a cache line of its own.
    private let counters: UnsafeMutablePointer<Counter>
    /// The number of grace periods that have begun; at most one is under way.
    private let begun = Atomic<Int>(0)
    /// The number of grace periods that have ended; the lock belongs to the writer that performs the next one.
    private let ended = Locked(0)

    /// Creates an epoch; tests have one of their own.
    init() {
        counters = .allocate(capacity: Self.stripes * 2 * Self.spacing)
        for index in 0..<(Self.stripes * 2 * Self.spacing) { (counters + index).initialize(to: Counter()) }
    }

    deinit {
        counters.deinitialize(count: Self.stripes * 2 * Self.spacing)
        counters.deallocate()
    }

    /// A read in progress: the counter that it raised, which lives as long as the epoch.
    struct Ticket {
        fileprivate let counter: UnsafeMutablePointer<Counter>

        /// Ends the read.
        func exit() {
            schedulePoint()
            counter.pointee.exit()
        }
    }

    /// Begins a read.
    ///
    /// The code up to ``Ticket/exit()`` must not suspend and must not call user code.
    func enter() -> Ticket {
        let counter = counters + (stripe() * 2 + parity.load(ordering: .relaxed)) * Self.spacing
        schedulePoint()
        counter.pointee.enter()
        return Ticket(counter: counter)
    }

    /// Returns when every read that began before this call has ended.
    ///
    /// Reads last nanoseconds, so this waits by yielding.
    func synchronize() { wait(for: nextPeriod) }

    /// The first grace period that begins after this call.
    var nextPeriod: Int { begun.load(ordering: .sequentiallyConsistent) &+ 1 }

    /// Returns when a grace period has ended, and performs it unless another writer does.
    func wait(for period: Int) {
        ended.withLock { ended in
            // As a difference, because the numbers may overflow.
            if ended &- period >= 0 { return }
            begun.store(ended &+ 1, ordering: .sequentiallyConsistent)
            for _ in 0..<2 {
                let old = parity.load(ordering: .relaxed)
                parity.store(1 - old, ordering: .sequentiallyConsistent)
                schedulePoint()
                for stripe in 0..<Self.stripes {
                    while !counters[(stripe * 2 + old) * Self.spacing].isZero { yieldThread() }
                }
            }
            ended &+= 1
        }
    }

    /// Each thread has its own stack, megabytes apart: the address of a local variable distinguishes threads without a
    /// call.
    ///
    /// Any stripe is correct; different ones are only faster.
    private func stripe() -> Int {
        var local: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) } >> 16
        return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 60) & (Self.stripes - 1)
    }

    fileprivate struct Counter: ~Copyable {
        private let readers = Atomic<Int>(0)

        borrowing func enter() { _ = readers.wrappingAdd(1, ordering: .sequentiallyConsistent) }
        borrowing func exit() { _ = readers.wrappingSubtract(1, ordering: .releasing) }
        var isZero: Bool { readers.load(ordering: .sequentiallyConsistent) == 0 }
    }
}
