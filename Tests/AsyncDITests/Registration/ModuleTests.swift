import Testing

@testable import AsyncDI

private struct Recording: Module {
    let name: String
    let log: Log<String>
    var inner: [any Module] = []
    var onLoad: @Sendable (Resolver) async throws -> Void = { _ in }

    var registrations: Registrations {
        Registration(String.self, qualifier: name, lifetime: .singleton) { [name] _ in name }
        inner
    }

    func loaded(_ resolver: Resolver) async throws {
        try await onLoad(resolver)
        log.append(name)
    }
}

extension Recording {
    /// A container whose module starts another one.
    fileprivate static func starting(_ index: Int, of containers: Log<Container>) -> Container {
        Container {
            Recording(name: "hop", log: Log()) { _ in try await containers.entries[index].start() }
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ModuleTests {
    @Test func `start tells each module once, contained ones first, after all are registered`() async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log, inner: [Recording(name: "b", log: log)]) { r in
                // Registered by the module after this one.
                let later = try await r.resolve(String.self, qualifier: "c")
                #expect(later == "c")
            }
            Recording(name: "c", log: log)
        }
        #expect(log.entries.isEmpty)
        try await container.start()
        try await container.start()
        #expect(log.entries == ["b", "a", "c"])
    }

    @Test func `a long-lived factory may load modules and start containers, whose instances it does not receive`()
        async throws
    {
        let log = Log<String>()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { r in
                // An unrelated container, one below, and its own.
                let other = Container { Recording(name: "other", log: log) }
                try await other.start()
                let child = Container(parent: r.container) {
                    Recording(name: "child", log: log)
                    Registration(Bool.self, lifetime: .singleton) { _ in true }.eager()
                    Registration(Double.self, lifetime: .scoped) { _ in 1 }.implements((any Sendable).self) { $0 }
                }
                try await child.start()
                try await child.prewarm(.scoped)
                try await r.container?.register(Recording(name: "own", log: log))
                let name = try await other.resolve(String.self, qualifier: "other")
                #expect(name == "other")
                return 1
            }
            Registration(Character.self, lifetime: .singleton) { r in
                // To hold an instance of the child is another matter.
                let child = Container(parent: r.container) {
                    Registration(Bool.self, lifetime: .singleton) { _ in true }
                }
                return try await child.resolve(Bool.self) ? "t" : "f"
            }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(log.entries == ["other", "child", "own"])
        await expect(.captiveDependency) { _ = try await container.resolve(Character.self) }
    }

    @Test func `without start modules are told before the first resolution returns`() async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log)
            Registration(Int.self, instance: 1)
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(log.entries == ["a"])
    }

    @Test(arguments: ["resolve", "qualifier", "optional", "many", "instance", "make", "child", "scope"])
    func `every way to ask waits for modules`(way: String) async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log)
            Registration(Int.self, instance: 1)
            Registration(making: Thing.self) { _ in Thing() }
        }
        switch way {
        case "resolve": _ = try await container.resolve(Int.self)
        case "qualifier": _ = try await container.resolve(String.self, qualifier: "a")
        case "optional": _ = try await container.optional(Double.self)
        case "many": _ = try await container.resolveMany(Int.self)
        case "instance": try await container.withInstance(Int.self) { _ in }
        case "make": _ = try await container.make(Thing.self)
        case "child": _ = try await Container(parent: container).resolve(Int.self)
        default: try await container.withScope { scope in _ = try await scope.resolve(Int.self) }
        }
        #expect(log.entries == ["a"])
    }

    @Test func `a thousand first askers wait for one loading`() async throws {
        let gate = Gate()
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { _ in await gate.pass() }
            Registration(Int.self, instance: 1)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let number = try await container.resolve(Int.self)
                    #expect(number == 1 && log.entries == ["a"])
                }
            }
            await gate.arrived()
            gate.open()
            try await group.waitForAll()
        }
        #expect(log.entries == ["a"])
    }

    @Test func `an asker that is cancelled while modules are told leaves alone`() async throws {
        let gate = Gate()
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { _ in await gate.pass() }
            Registration(Int.self, instance: 1)
        }
        let patient = Task { try await container.resolve(Int.self) }
        await gate.arrived()
        let hasty = Task { try await container.resolve(Int.self) }
        hasty.cancel()
        await #expect(throws: CancellationError.self) { try await hasty.value }
        gate.open()
        #expect(try await patient.value == 1)
        #expect(log.entries == ["a"])
    }

    @Test func `a module that throws is told again, but earlier modules are not`() async throws {
        let log = Log<String>()
        let attempts = Counter()
        let container = Container {
            Recording(name: "a", log: log)
            Recording(name: "b", log: log) { _ in if attempts.increment() == 1 { throw TestError(1) } }
            Registration(Int.self, instance: 1)
        }
        await #expect(throws: TestError(1)) { try await container.resolve(Int.self) }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(log.entries == ["a", "b"])
    }

    @Test func `a module may resolve its own services, also shared ones with dependencies`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 7 }
            Registration(Double.self, lifetime: .singleton) { r in Double(try await r.resolve(Int.self)) }
            Registration(Float.self, lifetime: .scoped) { _ in 2 }
            Recording(name: "a", log: log) { r in
                let (double, float) = (try await r.resolve(Double.self), try await r.resolve(Float.self))
                #expect(double == 7 && float == 2)
            }
        }
        try await container.start()
        #expect(log.entries == ["a"])
    }

    @Test func `a module may use a captured container while it is told`() async throws {
        let log = Log<String>()
        let box = Locked<Container?>(nil)
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 7 }
            Recording(name: "a", log: log) { _ in
                let number = try await box.withLock { $0 }?.resolve(Int.self)
                #expect(number == 7)
            }
        }
        box.withLock { $0 = container }
        try await container.start()
        #expect(log.entries == ["a"])
        box.withLock { $0 = nil }
    }

    @Test func `a module that is registered late is told before register returns`() async throws {
        let log = Log<String>()
        let container = Container()
        try await container.register(Recording(name: "a", log: log))
        #expect(log.entries == ["a"])
        try await container.register {
            Recording(name: "b", log: log)
            Recording(name: "c", log: log)
        }
        #expect(log.entries == ["a", "b", "c"])
        // The `loaded` of a module registered synchronously runs before the next resolution returns.
        try await container.register(Registrations { Recording(name: "d", log: log) })
        #expect(log.entries.count == 3)
        #expect(try await container.resolve(String.self, qualifier: "d") == "d")
        #expect(log.entries == ["a", "b", "c", "d"])
    }

    @Test func `a module that registers another one while it is told has it told as well`() async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { r in
                try await r.container?.register(Recording(name: "late", log: log))
            }
        }
        try await container.start()
        #expect(log.entries == ["a", "late"])
    }

    @Test func `the modules of a scope are told in the scope, its parent's before`() async throws {
        let log = Log<String>()
        let container = Container { Recording(name: "root", log: log) }
        try await container.withScope {
            Recording(name: "scope", log: log) { r in
                let own = try await r.resolve(String.self, qualifier: "scope")
                #expect(own == "scope")
            }
        } operation: { scope in
            let above = try await scope.resolve(String.self, qualifier: "root")
            #expect(above == "root")
        }
        #expect(log.entries == ["root", "scope"])
    }

    @Test func `disposing while modules are told ends the loading, and no caller hangs`() async throws {
        let gate = Gate()
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { _ in
                await gate.pass()
                try Task.checkCancellation()
            }
            Registration(Int.self, instance: 1)
        }
        let asker = Task { try await container.resolve(Int.self) }
        await gate.arrived()
        let disposal = Task { try await container.dispose() }
        let error = await expect(.disposed) { try await asker.value }
        #expect(error?.message.hasPrefix("Int was requested from the root container") == true)
        gate.open()
        try await disposal.value
        #expect(log.entries.isEmpty)
    }

    @Test(arguments: [true, false])
    func `no later module is told after the end of the start or the container`(disposes: Bool) async throws {
        let (gate, log) = (Gate(), Log<String>())
        let container = Container {
            Recording(name: "a", log: log) { _ in await gate.pass() }
            Recording(name: "b", log: log)
        }
        let start = Task { try await container.start() }
        await gate.arrived()
        let disposal = disposes ? Task { try await container.dispose() } : nil
        if disposal == nil { start.cancel() }
        await #expect(throws: (any Error).self) { try await start.value }
        gate.open()
        try await disposal?.value
        if disposal == nil {
            while container.activity().loadings.isEmpty == false { await Task.yield() }
            #expect(log.entries == ["a"])
            try await container.start()
            #expect(log.entries == ["a", "b"])
            try await container.dispose()
        } else {
            #expect(log.entries == ["a"])
        }
    }

    @Test func `a module whose loading disposes its container, or waits for itself, is told so`() async throws {
        let own = Log<Container>()
        let disposing = Container(name: "app") {
            Recording(name: "a", log: Log()) { _ in
                let container = own.entries[0]
                let error = await expect(.invalidOperation) { try await container.dispose() }
                #expect(error?.message.contains("Module.loaded disposes container \"app\"") == true)
            }
        }
        own.append(disposing)
        try await disposing.start()
        try await disposing.dispose()

        let both = Log<Container>()
        let (first, second) = (Recording.starting(1, of: both), Recording.starting(0, of: both))
        both.append(first)
        both.append(second)
        let error = await expect(.circularDependency) { try await first.start() }
        #expect(error?.description.contains("Recording.loaded → Recording.loaded") == true)
        #expect(error?.description.contains("let loaded of a module request nothing") == true)
        try await first.dispose()
        try await second.dispose()
    }

    @Test func `a module may use scopes when it is loaded, which holds no instance`() async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { r in
                let container = try #require(r.container)
                try await container.withScope("seed") { scope in
                    log.append("seeds \(try await scope.resolve(Int.self))")
                    log.append("leases \(try await scope.withInstance(Int.self) { $0 })")
                    log.append("shares \(try await scope.resolve(Double.self))")
                }
            }
            Registration(Int.self, lifetime: .scoped) { _ in 1 }.onDispose { _ in log.append("commits") }
            Registration(Double.self, lifetime: .graph) { r in Double(try await r.resolve(Int.self)) }
        }
        try await container.start()
        #expect(log.entries == ["seeds 1", "leases 1", "shares 1.0", "commits", "a"])
        try await container.dispose()
    }

    @Test func `a reset while modules are told does not tell them twice`() async throws {
        let gate = Gate()
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log) { _ in
                gate.arrive()
                await gate.pass()
            }
            Recording(name: "b", log: log)
            Registration(Int.self, instance: 1)
        }
        let first = Task { try await container.resolve(Int.self) }
        await gate.arrived(2)
        try await container.reset()
        let binding = container.core.withState { $0.modules.binding }
        let second = Task { try await container.resolve(Int.self) }
        await container.core.waiters(of: try #require(binding).key.service, reach: 2)
        gate.open()
        _ = try await (first.value, second.value)
        #expect(log.entries == ["a", "b"])
    }

    @Test func `a caller's own Lazy waits for modules`() async throws {
        let log = Log<String>()
        let container = Container {
            Recording(name: "a", log: log)
            Registration(Int.self, instance: 1)
        }
        #expect(try await Lazy(Int.self, from: container)() == 1)
        #expect(log.entries == ["a"])
    }

    @Test(arguments: [false, true])
    func `a container may be dropped while loaded, which ignores its cancellation, still runs`(
        starts: Bool
    ) async throws {
        let (log, gate) = (Log<String>(), Gate())
        let module = Recording(name: "a", log: log, inner: [Recording(name: "b", log: log)]) { _ in await gate.pass() }
        let request = Task {
            let container = Container {
                Recording(name: "first", log: log) { _ in await gate.pass() }
                module
            }
            if starts {
                try await container.start()
            } else {
                _ = try await container.resolve(String.self, qualifier: "a")
            }
        }
        await gate.arrived()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        gate.open()
        await until { log.entries == ["first"] }
        // The other modules went with the container.
        for _ in 0..<100 { await Task.yield() }
        #expect(log.entries == ["first"])
    }
}
