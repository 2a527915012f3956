/// The time that a test's end gives to work that is about to end by itself.
enum Patience {
    /// The clock of all waits; tests of the waits themselves have one that they move.
    @TaskLocal static var clock: any Clock<Duration> = ContinuousClock()

    /// Waits until a condition holds, but not longer than a limit.
    ///
    /// - Returns: Whether the condition holds.
    static nonisolated(nonsending) func wait(atMost limit: Duration, until condition: () -> Bool) async -> Bool {
        let clock = clock
        let step = Duration.milliseconds(1)
        var waited = Duration.zero
        while !condition() {
            if waited >= limit { return false }
            // In a cancelled test there is no sleep.
            do { try await clock.sleep(for: step) } catch { await Task.yield() }
            waited += step
        }
        return true
    }

    /// Waits for a task, but not forever.
    ///
    /// - Returns: The task's result; nil when it has not ended in time. The task is not cancelled then.
    static nonisolated(nonsending) func result(
        of task: Task<Void, any Error>, within limit: Duration
    ) async -> Result<Void, any Error>? {
        let clock = clock
        let (stream, continuation) = AsyncStream<Result<Void, any Error>?>.makeStream()
        let timer = Task {
            // In many short sleeps, each of which ends late where tasks wait for a thread: on a machine that is busy
            // with other tests, the limit is as much longer as the body is slower.
            for _ in 0..<200 {
                do { try await clock.sleep(for: limit / 200) } catch { return }
            }
            continuation.yield(nil)
        }
        let waiter = Task { continuation.yield(await task.result) }
        defer {
            timer.cancel()
            waiter.cancel()
        }
        return await withTaskCancellationHandler {
            for await result in stream { return result }
            return nil
        } onCancel: {
            // The body ends by itself, or the timer is up.
            task.cancel()
        }
    }
}
