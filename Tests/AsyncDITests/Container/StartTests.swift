import Testing

@testable import AsyncDI

@Suite(.timeLimit(.minutes(10))) struct StartTests {
    @Test func `start makes eager services, independent ones side by side`() async throws {
        let both = Gate()
        let runs = Counter()
        let container = Container {
            for name in ["a", "b"] {
                Registration(String.self, qualifier: name, lifetime: .singleton) { _ in
                    // Passes only when both have arrived: created one after the other, they would wait forever.
                    both.arrive()
                    await both.arrived(2)
                    return name
                }
                .eager()
            }
            Registration(Thing.self, lifetime: .singleton) { r in
                runs.increment()
                _ = try await r.resolve(String.self, qualifier: "a")
                return Thing()
            }
            .eager()
            Registration(Int.self, lifetime: .singleton) { _ in runs.increment() }
        }
        try await container.start()
        #expect(runs.value == 1)
        #expect(try container.ready(String.self, qualifier: "b") == "b")
        _ = try container.ready(Thing.self)
        try await container.start()
        #expect(runs.value == 1)
    }

    @Test func `a failed service's error is thrown, and the start's instances are disposed with it as the reason`()
        async throws
    {
        let log = Log<String>()
        let isBroken = Locked(true)
        let container = Container {
            Registration(Double.self, lifetime: .singleton) { _ in 0.5 }
                .onDispose { _ in log.append("older") }
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
                .onDispose { _, reason in log.append("Int \(reason.error.map { "\($0)" } ?? "done")") }
            Registration(String.self, lifetime: .singleton) { resolver in "\(try await resolver.resolve(Int.self))" }
                .eager()
                .onDispose { _, _ in log.append("String") }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.resolve(String.self)
                if isBroken.withLock({ $0 }) { throw TestError(5) }
                return Thing()
            }
            .eager()
        }
        _ = try await container.resolve(Double.self)
        await #expect(throws: TestError(5)) { try await container.start() }
        #expect(log.entries == ["String", "Int \(TestError(5))"])
        #expect(throws: ResolutionError.self) { try container.ready(Int.self) }
        #expect(try container.ready(Double.self) == 0.5)
        isBroken.withLock { $0 = false }
        try await container.start()
        #expect(try container.ready(String.self) == "1")
        try await container.dispose()
        #expect(log.entries.suffix(3) == ["String", "Int done", "older"])
    }

    @Test func `a start that fails leaves the instances of other requests and of modules`() async throws {
        struct Configuring: Module {
            let log: Log<String>
            var registrations: Registrations {
                Registration(String.self, lifetime: .singleton) { _ in "configured" }.onDispose { _ in
                    log.append("String")
                }
            }
            func loaded(_ resolver: Resolver) async throws { _ = try await resolver.resolve(String.self) }
        }
        let log = Log<String>()
        let factory = DrivenFactory<Int>()
        let container = Container {
            Configuring(log: log)
            Registration(Int.self, lifetime: .singleton) { _ in try await factory.run() }.eager()
            Registration(Double.self, lifetime: .multiton) { (_, _: Int) in 0.5 }.onDispose { _ in log.append("Double")
            }
        }
        let start = Task { try await container.start() }
        await factory.began()
        _ = try await container.resolve(Double.self, arguments: 1)
        factory.fail(TestError(1))
        await #expect(throws: TestError(1)) { try await start.value }
        #expect(log.entries.isEmpty)
        #expect(try container.ready(String.self) == "configured")
    }

    @Test func `a failed start disposes no instance that a creation still under way may hold`()
        async throws
    {
        let log = Log<String>()
        let (working, failing) = (DrivenFactory<Void>(), DrivenFactory<Thing>())
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.onDispose { _ in log.append("Int") }
            Registration(String.self, lifetime: .singleton) { resolver in
                let number = try await resolver.resolve(Int.self)
                // Does not look at its cancellation.
                try await working.run()
                return "\(number)"
            }
            .eager()
            .whenAbandoned(.finish)
            Registration(Thing.self, lifetime: .singleton) { _ in try await failing.run() }.eager()
        }
        let start = Task { try await container.start() }
        await working.began()
        await failing.began()
        failing.fail(TestError(2))
        await #expect(throws: TestError(2)) { try await start.value }
        #expect(log.entries.isEmpty)
        working.answer(())
        #expect(try await container.resolve(String.self) == "1")
        #expect(log.entries.isEmpty)
    }

    @Test func `a start that fails beside one that succeeds disposes nothing`() async throws {
        let log = Log<String>()
        let factory = DrivenFactory<Int>()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in try await factory.run() }
                .eager()
                .onDispose { _ in log.append("disposed") }
        }
        let first = Task { try await container.start() }
        await factory.began()
        let second = Task { try await container.start() }
        while container.activity().creations.first?.waiters != 2 { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        factory.answer(3)
        _ = try await second.value
        #expect(try container.ready(Int.self) == 3)
        #expect(log.entries.isEmpty)
    }

    @Test func `start throws the problem of the initializer's registrations`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self, instance: 1)
            Registration(Int.self, instance: 2)
        }
        await expect(.duplicateRegistration) { try await container.start() }
        let eager = Container { Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }.eager() }
        await expect(.invalidRegistration) { try await eager.start() }
    }

    // MARK: Lifetimes whose instances would not stay

    @Test(arguments: [Lifetime.transient, .graph, .weak, .multiton(weak: true)])
    func `eager needs a lifetime whose instances stay`(lifetime: Lifetime) async throws {
        let container = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.eager() }
        let error = await expect(.invalidRegistration) { try await container.start() }
        #expect(error?.description.contains("Thing is \(lifetime) and eager") == true)
        await expect(.invalidRegistration) { try await container.resolve(Thing.self) }
        await expect(.invalidRegistration) {
            try await container.register(Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.eager())
        }
    }

    @Test func `whether eager is allowed depends on the lifetime that the container gives`() async throws {
        let registration = Registration(Thing.self) { _ in Thing() }.eager()
        await expect(.invalidRegistration) { try await Container { registration }.start() }
        let container = Container(defaultLifetime: .singleton) { registration }
        try await container.start()
        _ = try container.ready(Thing.self)
        let custom = Container {
            Registration(Thing.self, lifetime: Lifetime("custom")) { _ in Thing() }.eager()
            Registration(Int.self, instance: 1).eager()
        }
        try await custom.start()
        _ = try custom.ready(Thing.self)
    }

    // MARK: In scopes

    /// An application whose scopes have eager services, and where these are inherited from.
    private func application(_ runs: Log<String>) -> Container {
        let fallback = Container(name: "fallback") {
            Registration(String.self, qualifier: "fallback", lifetime: .scoped) { r in
                runs.append("fallback in \(r.container?.name ?? "")"); return ""
            }
            .eager()
        }
        return Container(name: "app", fallbacks: [fallback]) {
            Registration(String.self, lifetime: .scoped) { r in
                runs.append("scoped in \(r.container?.name ?? "")"); return ""
            }
            .eager()
            Registration(String.self, qualifier: "lazy", lifetime: .scoped) { _ in
                runs.append("lazy"); return ""
            }
            Registration(String.self, qualifier: "shared", lifetime: .singleton) { r in
                runs.append("shared in \(r.container?.name ?? "")"); return ""
            }
            .eager()
        }
    }

    @Test func `the start of a scope makes the eager scoped services that it inherits, as its own`() async throws {
        let runs = Log<String>()
        let app = application(runs)
        let scope = try await app.openScope("request") {
            Registration(String.self, qualifier: "own", lifetime: .singleton) { _ in
                runs.append("own"); return ""
            }
            .eager()
        }
        try await scope.start()
        #expect(runs.entries.sorted() == ["fallback in request", "own", "scoped in request"])
        _ = try scope.ready(String.self)
        _ = try scope.ready(String.self, qualifier: "fallback")
        try await scope.start()
        #expect(runs.entries.count == 3)
        // Below a scope, another one; and the application makes its own.
        try await scope.openScope("inner").start()
        #expect(runs.entries.suffix(2).sorted() == ["fallback in inner", "scoped in inner"])
        try await app.start()
        #expect(runs.entries.suffix(3).sorted() == ["fallback in app", "scoped in app", "shared in app"])
        #expect(runs.entries.count == 8)
        try await app.dispose()
    }

    @Test func `a nearer registration of the key counts, eager or not`() async throws {
        let runs = Log<String>()
        let app = application(runs)
        let scope = try await app.openScope("request") {
            Registration(String.self, lifetime: .scoped) { _ in
                runs.append("hiding"); return ""
            }
            Decoration(String.self, qualifier: "fallback") { _, inner in
                runs.append("decorated"); return inner
            }
        }
        try await scope.start()
        #expect(runs.entries == ["fallback in request", "decorated"])
        try await app.dispose()
    }

    @Test func `prewarm creates inherited services, of lifetimes that belong to the container asked`() async throws {
        let runs = Log<String>()
        let app = application(runs)
        let scope = try await app.openScope("request")
        try await scope.prewarm(.scoped)
        #expect(runs.entries.sorted() == ["fallback in request", "lazy", "scoped in request"])
        try await scope.prewarm()
        #expect(runs.entries.count == 3)
        try await app.dispose()
    }
}
