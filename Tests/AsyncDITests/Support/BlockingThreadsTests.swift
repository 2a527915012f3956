import Testing

@testable import AsyncDI

/// Blocks the thread on which it goes until it is released.
private final class SlowToEnd: Sendable {
    private let began: Locked<Bool>
    private let release: ThreadGate

    init(began: Locked<Bool>, until release: ThreadGate) {
        self.began = began
        self.release = release
    }

    deinit {
        began.withLock { $0 = true }
        release.wait()
    }
}

/// Threads for code that may block.
@Suite(.timeLimit(.minutes(10))) struct BlockingThreadsTests {
    @Test func `a thread that still releases its job is given no other one`() async {
        let (began, running) = (Locked(false), Counter())
        let (handedOver, release) = (ThreadGate(), ThreadGate())
        func runSlow() {
            let slow = SlowToEnd(began: began, until: release)
            BlockingThreads.shared.run {
                // Until no other reference exists: it must not end on, and block, a thread of the pool of tasks.
                handedOver.wait()
                withExtendedLifetime(slow) {}
            }
        }
        runSlow()
        handedOver.open()
        while !began.withLock({ $0 }) { await Task.yield() }
        // More than the idle threads: each job needs its own.
        for _ in 0..<64 {
            BlockingThreads.shared.run {
                running.increment()
                release.wait()
            }
        }
        while running.value < 64 { await Task.yield() }
        release.open()
    }
}
