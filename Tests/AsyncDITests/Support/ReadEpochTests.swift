import Testing

@testable import AsyncDI

/// The waits of writers for the readers of what they have unpublished.
@Suite(.timeLimit(.minutes(10))) struct ReadEpochTests {
    private let epoch = ReadEpoch()

    @Test func `a writer waits for the reads that began before it, not for later ones`() async {
        let period = epoch.nextPeriod
        let isReading = ThreadGate()
        let hasReturned = Locked(false)
        await onThreads(2) { number in
            if number == 0 {
                isReading.wait()
                epoch.synchronize()
                hasReturned.withLock { $0 = true }
            } else {
                let read = epoch.enter()
                isReading.open()
                // The writer's grace period has begun.
                while epoch.nextPeriod == period { yieldThread() }
                #expect(!hasReturned.withLock { $0 })
                read.exit()
            }
        }
        #expect(hasReturned.withLock { $0 })
        #expect(epoch.nextPeriod == period + 1)
    }

    @Test func `writers that come before a grace period share it`() {
        let first = epoch.nextPeriod
        let second = epoch.nextPeriod
        epoch.wait(for: first)
        #expect(epoch.nextPeriod == first + 1)
        epoch.wait(for: second)
        #expect(epoch.nextPeriod == first + 1, "the first writer has waited for both")
        epoch.synchronize()
        #expect(epoch.nextPeriod == first + 2, "a later writer waits for itself")
    }

    @Test func `a writer that comes during a grace period waits for the next one`() async {
        let first = epoch.nextPeriod
        let isReading = ThreadGate()
        await onThreads(2) { number in
            if number == 0 {
                isReading.wait()
                epoch.synchronize()
            } else {
                let read = epoch.enter()
                isReading.open()
                while epoch.nextPeriod == first { yieldThread() }
                let second = epoch.nextPeriod
                #expect(second == first + 1)
                read.exit()
                epoch.wait(for: second)
                #expect(epoch.nextPeriod == second + 1, "the writer has performed a grace period of its own")
            }
        }
    }

    @Test func `no object ends while it is read`() async {
        let living = Locked(0)
        let published = Published(Mortal(0, counting: living))
        let (readers, writers, rounds) = (6, 6, 500)
        let writing = Locked(writers)
        await onThreads(readers + writers) { number in
            if number < readers {
                while writing.withLock({ $0 }) > 0 {
                    let read = epoch.enter()
                    let object = published.reference.load()
                    if let object { #expect(object._withUnsafeGuaranteedRef { $0.isAlive }) }
                    read.exit()
                }
            } else {
                for round in 0..<rounds {
                    let old = published.reference.exchange(Mortal(round, counting: living))
                    epoch.synchronize()
                    withExtendedLifetime(old) {}
                }
                writing.withLock { $0 -= 1 }
            }
        }
        #expect(living.withLock { $0 } == 1, "all but the last object have ended")
    }
}

/// A reference that threads share.
private final class Published: Sendable {
    let reference: AtomicReference<Mortal>
    init(_ first: Mortal) { reference = AtomicReference(first) }
}
