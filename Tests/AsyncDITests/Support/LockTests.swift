import Testing

@testable import AsyncDI

/// The lock: one at a time, whatever is thrown, however many threads.
@Suite(.timeLimit(.minutes(10))) struct LockTests {
    @Test func `the body gets the value and may change it`() {
        let locked = Locked(1)
        let old = locked.withLock { value in
            defer { value = 2 }
            return value
        }
        #expect(old == 1)
        #expect(locked.withLock { $0 } == 2)
    }

    @Test func `an error passes through, with its type, and leaves the lock free`() {
        let locked = Locked(1)
        do throws(TestError) {
            try locked.withLock { value throws(TestError) in
                value = 5
                throw TestError(3)
            }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error == TestError(3))
        }
        #expect(locked.withLock { $0 } == 5)
    }

    @Test func `no addition of many threads is lost`() async {
        // Two numbers that must stay equal: a torn access would show.
        let locked = Locked((0, 0))
        await onThreads(16) { _ in
            for _ in 0..<5_000 {
                locked.withLock { value in
                    value.0 += 1
                    value.1 += 1
                }
            }
        }
        #expect(locked.withLock { $0 } == (80_000, 80_000))
    }

    @Test func `no two bodies are inside the lock at once`() async {
        let locked = Locked(0)
        let inside = Locked(false)
        let overlaps = Counter()
        await onThreads(8) { _ in
            for _ in 0..<2_000 {
                locked.withLock { value in
                    let isOccupied = inside.withLock { isInside in
                        defer { isInside = true }
                        return isInside
                    }
                    if isOccupied { overlaps.increment() }
                    value += 1
                    inside.withLock { $0 = false }
                }
            }
        }
        #expect(overlaps.value == 0)
        #expect(locked.withLock { $0 } == 16_000)
    }

    @Test func `the value goes with the lock`() {
        let living = Locked(0)
        do {
            let locked = Locked(Mortal(1, counting: living))
            locked.withLock { $0 = Mortal(2, counting: living) }
            #expect(living.withLock { $0 } == 1)
        }
        #expect(living.withLock { $0 } == 0)
    }
}
