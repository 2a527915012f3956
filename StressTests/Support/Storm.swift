/// Many concurrent requests, some of them cancelled at random moments, even before their start; and their results.
struct Storm<Value: Sendable>: Sendable {
    /// The values, by the number of the request, without those of failed requests.
    let values: [Int: Value]
    /// The requests that ended with an error other than their own cancellation.
    let failures: [Int: any Error]
    /// The requests that were cancelled, in time or not.
    let cancelled: Set<Int>

    static func run(
        of count: Int, cancelling share: Double, seed: UInt64, _ ask: @escaping @Sendable (Int) async throws -> Value
    ) async -> Storm {
        var random = SeededRandom(seed: seed, stream: -1)
        var tasks: [Task<Value, any Error>] = []
        var cancellers: [Task<Void, Never>] = []
        // Set before the task is cancelled: a `CancellationError` without it belongs to another task.
        let marks = (0..<count).map { _ in Counter() }

        for number in 0..<count {
            let pause = random.below(20)
            let task = Task {
                for _ in 0..<pause { await Task.yield() }
                return try await ask(number)
            }
            tasks.append(task)
            if random.chance(share) {
                let delay = random.below(60)
                let mark = marks[number]
                if delay == 0 {
                    mark.set(1)
                    task.cancel()
                } else {
                    let canceller = Task {
                        for _ in 0..<delay { await Task.yield() }
                        mark.set(1)
                        task.cancel()
                    }
                    cancellers.append(canceller)
                }
            }
            if random.chance(0.05) { await Task.yield() }
        }

        var values: [Int: Value] = [:]
        var failures: [Int: any Error] = [:]
        for (number, task) in tasks.enumerated() {
            switch await task.result {
            case .success(let value): values[number] = value
            case .failure(is CancellationError) where marks[number].value == 1: break
            case .failure(let error): failures[number] = error
            }
        }
        for canceller in cancellers { await canceller.value }
        return Storm(
            values: values, failures: failures, cancelled: Set((0..<count).filter { marks[$0].value == 1 }))
    }
}
