import AsyncDI
import Exploration

extension Scenario {
    static let replacement = [
        Scenario(name: "replacement", claim: "after a replacement nobody but the waiters gets the old one") {
            explored in
            let settled = Counter()
            let container = Container(clock: explored.clock) { version(0) }
            explored.watch(container)
            let asking = (0..<3).map { number in
                explored.task("request \(number)") {
                    for _ in 0..<2 {
                        let least = settled.value
                        let token = try await container.resolve(Token.self)
                        explored.expect(token.number >= least, "version \(token.number) after \(least) was registered")
                        await pause()
                    }
                }
            }
            for number in 1...2 {
                await pause()
                try await container.register(version(number))
                settled.set(number)
            }
            for task in asking { try await task.value }
            explored.expect(try await container.resolve(Token.self).number == 2, "not the last one")
        },
        Scenario(name: "replacement-disposes", claim: "what is replaced is disposed, once, also in flight") {
            explored in
            let ledger = Ledger()
            @Sendable func version(_ number: Int) -> Registration<Tracked> {
                Registration(Tracked.self, lifetime: .singleton) { _ in
                    await pause()
                    return Tracked(tag: number, in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            let container = Container(clock: explored.clock) { version(0) }
            explored.watch(container)
            let asking = explored.task("request") { try await container.resolve(Tracked.self).tag }
            let changing = explored.task("change") { try await container.register(version(1)) }
            _ = try await asking.value
            try await changing.value
            explored.expect(try await container.resolve(Tracked.self).tag == 1, "not the new one")
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "reset-in-flight", claim: "after a reset nobody gets what was begun before it") { explored in
            let epoch = Counter()
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .singleton) { _ in
                    let begun = epoch.value
                    await pause()
                    return Tracked(tag: begun, in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            explored.watch(container)
            let asking = (0..<2).map { number in
                explored.task("request \(number)") {
                    for _ in 0..<2 {
                        let least = epoch.value / 2 * 2
                        let answer = try await container.resolve(Tracked.self)
                        explored.expect(answer.tag + 1 >= least, "one of \(answer.tag) after \(least)")
                    }
                }
            }
            await pause()
            epoch.add()  // From here on it may be either.
            try await container.reset(Tracked.self)
            epoch.add()
            for task in asking { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "unregister-in-flight", claim: "after an unregistration the service is not found") { explored in
            let gone = Counter()
            let container = Container(clock: explored.clock) { version(0) }
            explored.watch(container)
            let asking = (0..<3).map { number in
                explored.task("request \(number)") {
                    let wasGone = gone.value > 0
                    let token = try await container.optional(Token.self)
                    explored.expect(token == nil || !wasGone, "given after its end")
                }
            }
            let removing = explored.task("removal") {
                await pause()
                explored.expect(await container.unregister(Token.self), "not found")
                gone.add()
            }
            for task in asking { try await task.value }
            try await removing.value
            explored.expect(try await container.optional(Token.self) == nil, "still there")
        },
        Scenario(name: "one-of-a-key", claim: "there are never two instances of one multiton key at once") { explored in
            let alive = Probe()
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .multiton) { (_, key: Int) in
                    alive.enter()
                    await pause()
                    return Tracked(tag: key, in: ledger)
                }
                .onDispose { tracked in
                    await tracked.dispose(yielding: 1)
                    alive.leave()
                }
            }
            explored.watch(container)
            // An instance in flight would reach its waiters at the same time as its successor.
            _ = try await container.resolve(Tracked.self, arguments: 1)
            let asking = (0..<2).map { number in
                explored.task("request \(number)") {
                    for _ in 0..<2 { _ = try await container.resolve(Tracked.self, arguments: 1) }
                }
            }
            let resetting = explored.task("reset") {
                await pause()
                try await container.reset(Tracked.self, arguments: 1)
            }
            for task in asking + [resetting] { try await task.value }
            try await container.dispose()
            explored.expect(alive.peak <= 1, "\(alive.peak) instances at once")
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "override-in-scope", claim: "a nearer registration takes effect at once in a scope") {
            explored in
            let settled = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token(0) }
            }
            explored.watch(container)
            let scope = try await container.openScope("scope")
            let asking = (0..<2).map { number in
                explored.task("request \(number)") {
                    for _ in 0..<2 {
                        let least = settled.value
                        let token = try await scope.resolve(Token.self)
                        explored.expect(token.number >= least, "hidden by an instance of before")
                        await pause()
                    }
                }
            }
            await pause()
            try await scope.register(Token.self, lifetime: .scoped) { _ in Token(1) }
            settled.set(1)
            for task in asking { try await task.value }
            explored.expect(try await scope.resolve(Token.self).number == 1, "not the override")
        },
        Scenario(
            name: "decorated-anew", claim: "a new registration is never found without its decorations", worlds: 2
        ) { explored in
            let lifetime: Lifetime = explored.dataSeed % 2 == 0 ? .singleton : .transient
            let root = Container(clock: explored.clock)
            let middle = Container(parent: root, clock: explored.clock) {
                Decoration(Token.self) { _, inner in Token(inner.number + 10) }
            }
            let leaf = Container(parent: middle, clock: explored.clock) {
                Decoration(Token.self) { _, inner in Token(inner.number + 100) }
            }
            for container in [root, middle, leaf] { explored.watch(container) }
            let asking = [(middle, 0), (leaf, 100)].map { container, own in
                explored.task("request \(own)") {
                    for _ in 0..<2 {
                        do {
                            let number = try await container.optional(Token.self)?.number
                            explored.expect(number.map { [own + 11, own + 12].contains($0) } ?? true, "\(number ?? 0)")
                        } catch {
                            // It was found, and is gone.
                            explored.expect((error as? ResolutionError)?.code == .notRegistered, "\(error)")
                        }
                        await pause()
                    }
                }
            }
            let changing = explored.task("change") {
                await pause()
                try await middle.register(Token.self, lifetime: lifetime) { _ in Token(2) }
                await pause()
                explored.expect(await middle.unregister(Token.self), "not found")
            }
            try await root.register(Token.self, lifetime: lifetime) { _ in Token(1) }
            await pause()
            explored.expect(await root.unregister(Token.self), "not found")
            try await root.register(Token.self, lifetime: lifetime) { _ in Token(1) }
            for task in asking + [changing] { try await task.value }
            explored.expect(try await leaf.resolve(Token.self).number == 111, "not decorated at the end")
        },
    ]

    private static func version(_ number: Int) -> Registration<Token> {
        Registration(Token.self, lifetime: .singleton) { _ in
            await pause()
            return Token(number)
        }
    }
}
