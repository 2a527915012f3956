import AsyncDI
import Exploration

extension Scenario {
    static let observing = [
        Scenario(name: "events-balance", claim: "every created is followed by exactly one disposed") { explored in
            let log = Log()
            let container = Container(observers: [log], clock: explored.clock) {
                Registration(Token.self, lifetime: .multiton(capacity: 1)) { (_, key: Int) in
                    await pause()
                    return Token(key)
                }
                .onDispose { _ in await pause() }
            }
            explored.watch(container)
            let asking = (0..<3).map { number in
                explored.task("request \(number)") {
                    _ = try await container.resolve(Token.self, arguments: number % 2)
                }
            }
            let resetting = explored.task("reset") { try await container.reset() }
            for task in asking + [resetting] { try await task.value }
            try await container.dispose()
            // dispose() returns after observers have received the last event.
            var living = 0
            for event in log.entries {
                switch event {
                case .created: living += 1
                case .evicted: explored.expect(living > 0, "evicted before it was created: \(log.entries)")
                case .disposed: living -= 1
                default: break
                }
                explored.expect(living >= 0, "disposed before it was created: \(log.entries)")
            }
            explored.expect(living == 0, "\(living) never disposed: \(log.entries)")
        },
        Scenario(name: "events-of-failures", claim: "a failure is told once, and no creation with it") { explored in
            let log = Log()
            let probe = Probe()
            let container = Container(observers: [log], clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    await pause()
                    throw Failure(number: 1)
                }
            }
            explored.watch(container)
            _ = await explored.outcomes(3, of: "request") { _ in try await container.resolve(Token.self) }
            try await container.dispose()
            let failures = log.entries.count { if case .failed = $0 { true } else { false } }
            explored.expect(failures == probe.runs, "\(failures) failures of \(probe.runs) runs")
        },
        Scenario(name: "events-of-scopes", claim: "scopes are opened before they are closed, each once") { explored in
            let log = Log()
            let container = Container(observers: [log], clock: explored.clock)
            explored.watch(container)
            let outcomes = await explored.outcomes(2, of: "request") { number in
                try await container.withScope("scope \(number)") { _ in await pause() }
            }
            _ = explored.successes(outcomes, "a request")
            try await container.dispose()
            for number in 0..<2 {
                let mine = log.entries.compactMap { event in
                    switch event {
                    case .scopeOpened(let name) where name.contains("scope \(number)"): "opened"
                    case .scopeClosed(let name) where name.contains("scope \(number)"): "closed"
                    default: nil
                    }
                }
                explored.expect(mine == ["opened", "closed"], "scope \(number): \(mine)")
            }
        },
        Scenario(name: "stall-is-told", claim: "a wait that the cycle detector cannot see is reported") { explored in
            let log = Log()
            let gate = Gate()
            let container = Container(observers: [log], clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await gate.wait()
                    return Token()
                }
            }
            explored.watch(container)
            let asking = explored.task("request") { try await container.resolve(Token.self) }
            // Nothing else can end this wait.
            await log.stalled.wait()
            gate.open()
            _ = try await asking.value
            try await container.dispose()
        },
    ]

    private final class Log: ContainerObserver {
        private let journal = Journal<ContainerEvent>()
        /// Open once a stall has been told.
        let stalled = Gate()
        var entries: [ContainerEvent] { journal.entries }

        func container(_ container: Container, did event: ContainerEvent) {
            journal.add(event)
            if case .stalled = event { stalled.open() }
        }
    }
}
