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
            // In a task of its own, because a cancelled one does not sleep.
            await Task { try? await clock.sleep(for: step) }.value
            waited += step
        }
        return true
    }

    /// Waits for a task, but not forever.
    ///
    /// A cancellation is passed on to the task, whose end is nevertheless awaited.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - limit: The longest time to wait.
    ///   - clock: The clock of the wait.
    /// - Returns: The task's result; nil when it has not ended in time. The task is not cancelled then.
    static nonisolated(nonsending) func result(
        of task: Task<Void, any Error>, within limit: Duration, by clock: any Clock<Duration> = Patience.clock
    ) async -> Result<Void, any Error>? {
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
        // In a task of its own, because a stream ends at once in a cancelled one.
        let race = Task { () -> Result<Void, any Error>? in
            for await result in stream { return result }
            return nil
        }
        return await withTaskCancellationHandler {
            await race.value
        } onCancel: {
            task.cancel()
        }
    }
}
