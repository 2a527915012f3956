import Foundation
import Testing

@testable import AsyncDI

/// Blocks the thread on which it goes until it is released.
private final class SlowToEnd: Sendable {
    private let began: Locked<Bool>
    private let isReleased: Locked<Bool>

    init(began: Locked<Bool>, until isReleased: Locked<Bool>) {
        self.began = began
        self.isReleased = isReleased
    }

    deinit {
        began.withLock { $0 = true }
        while !isReleased.withLock({ $0 }) { usleep(100) }
    }
}

/// Threads for code that may block.
@Suite(.timeLimit(.minutes(10))) struct BlockingThreadsTests {
    @Test func `a thread that still releases its job is given no other one`() async {
        let (began, isReleased, running) = (Locked(false), Locked(false), Counter())
        let isHandedOver = Locked(false)
        func runSlow() {
            let slow = SlowToEnd(began: began, until: isReleased)
            BlockingThreads.shared.run {
                // Until nobody else has it: it must not end on, and block, a thread of the pool of tasks.
                while !isHandedOver.withLock({ $0 }) { usleep(100) }
                withExtendedLifetime(slow) {}
            }
        }
        runSlow()
        isHandedOver.withLock { $0 = true }
        while !began.withLock({ $0 }) { await Task.yield() }
        // More than there are threads that happen to have nothing to do: each needs one of its own.
        for _ in 0..<64 {
            BlockingThreads.shared.run {
                running.increment()
                while !isReleased.withLock({ $0 }) { usleep(100) }
            }
        }
        while running.value < 64 { await Task.yield() }
        isReleased.withLock { $0 = true }
    }
}
