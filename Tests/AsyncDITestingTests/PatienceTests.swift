import Testing

@testable import AsyncDITesting

@Suite(.timeLimit(.minutes(10)))
struct PatienceTests {
    @Test func `a task that is cancelled waits as long as another one`() async {
        let clock = HeldClock.released
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Patience.$clock.withValue(clock) { await Patience.wait(atMost: .milliseconds(3)) { false } }
        }
        #expect(await !task.value)
        #expect(clock.now.offset == .milliseconds(3))
    }

    @Test func `a task that is cancelled gets the result of another one`() async {
        let (gate, waiting) = (Gate(), Gate())
        let clock = HeldClock()
        let work = Task<Void, any Error> {
            waiting.open()
            await gate.wait()
            throw TestError(number: 6)
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Patience.$clock.withValue(clock) { await Patience.result(of: work, within: .seconds(1)) }
        }
        await waiting.wait()
        gate.open()
        let result = await task.value
        #expect(throws: TestError(number: 6)) { try result?.get() }
        #expect(work.isCancelled)
    }
}
