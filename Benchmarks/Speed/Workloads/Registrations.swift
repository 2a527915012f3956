import AsyncDI

/// Setting a container up, to the first answer.
func registerRegistrations() {
    for count in [10_000, 100_000] {
        compare("register-\(count)", operations: count, rounds: 2_000_000 / count) {
            Comparison {
                try await timeToRegister($0)
            } baseline: {
                try await timeTasks($0)
            }
        }
    }
    compare("register-linear", operations: 100_000, rounds: 20) {
        Comparison {
            try await timeToRegister($0)
        } baseline: { operations in
            var sum = Duration.zero
            for _ in 0..<10 { sum += try await timeToRegister(operations / 10) }
            return sum
        }
    }
    compare("register-later", operations: 10_000, rounds: 50) {
        Comparison { operations in
            let container = Container()
            return try await time {
                for index in 0..<operations {
                    try await container.register(SomeService.self, qualifier: Slot(index: index), lifetime: .singleton)
                    { _ in
                        SomeService()
                    }
                }
            }
        } baseline: {
            try await timeTasks($0)
        }
    }
}

/// Without the time to free the container.
private nonisolated(nonsending) func timeToRegister(_ count: Int) async throws -> Duration {
    var container: Container?
    let duration = try await time {
        let made = manySlots(count)
        consume(try await made.resolve(SomeService.self, qualifier: Slot(index: 0)))
        container = made
    }
    withExtendedLifetime(container) {}
    return duration
}

/// A container with as many registrations.
func manySlots(_ count: Int) -> Container {
    Container {
        for index in 0..<count {
            Registration(SomeService.self, qualifier: Slot(index: index), lifetime: .singleton) { _ in SomeService() }
        }
    }
}
