import Testing

@testable import AsyncDI

/// Notes at its end whether a suspended call is about to go on.
private final class Ending: Sendable {
    private let caller: HeldTaskExecutor
    private let log: Log<Bool>
    init(before caller: HeldTaskExecutor, noting log: Log<Bool>) {
        self.caller = caller
        self.log = log
    }
    deinit { log.append(caller.hasJobs) }
}
private final class Closed: Sendable {}

private protocol Sized: Sendable { var size: Int { get } }
private final class Measured: Sized {
    let size: Int
    init(_ size: Int) { self.size = size }
}
private struct Wrapped: Sized {
    let inner: any Sized
    var size: Int { inner.size }
}

/// Asks a container when it ends.
private final class Asking: Hashable, Sendable {
    let number: Int
    private let container: Container
    init(_ number: Int, _ container: Container) {
        self.number = number
        self.container = container
    }
    static func == (first: Asking, second: Asking) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    deinit { _ = try? container.ready(Closed.self) }
}

/// The instances that a container keeps, and their release.
@Suite(.timeLimit(.minutes(10))) struct KeptInstanceTests {
    @Test func `instances have ended when dispose returns`() async throws {
        let (caller, hook, returned) = (HeldTaskExecutor(), Gate(), Gate())
        let lateEnds = Log<Bool>()
        let container = Container {
            Registration(Ending.self, lifetime: .singleton) { _ in Ending(before: caller, noting: lateEnds) }
            Registration(Closed.self, lifetime: .singleton) { _ in Closed() }.onDispose { _ in await hook.pass() }
        }
        _ = try await container.resolve(Ending.self)
        _ = try await container.resolve(Closed.self)
        let call = Task(executorPreference: caller) {
            defer { returned.arrive() }
            try await container.dispose()
        }
        await until {
            while caller.runJobs() {}
            return hook.arrivals == 1
        }
        #expect(!caller.hasJobs && lateEnds.entries.isEmpty, "the call waits for the hook")
        hook.open()
        await until { caller.hasJobs }
        #expect(lateEnds.entries == [false], "the instance has ended before the call goes on")
        await until {
            while caller.runJobs() {}
            return returned.arrivals == 1
        }
        try await call.value
    }

    @Test func `a decorated forwarded type is kept for each of the arguments`() async throws {
        let container = Container {
            Registration(Measured.self, lifetime: .multiton) { (_, text: String) in Measured(text.count) }
                .implements((any Sized).self)
            Decoration((any Sized).self) { _, inner in Wrapped(inner: inner) }
        }
        #expect(try await container.resolve((any Sized).self, arguments: "a").size == 1)
        #expect(try await container.resolve((any Sized).self, arguments: "abc").size == 3)
        #expect(try await container.resolve((any Sized).self, arguments: "a").size == 1)
    }

    @Test func `arguments of an entry that goes end outside the lock`() async throws {
        let container = Container {
            Registration(Closed.self, lifetime: .singleton) { _ in Closed() }
            Registration(Measured.self, lifetime: .multiton(capacity: 1, weak: true)) { (_, argument: Asking) in
                Measured(argument.number)
            }
        }
        for number in [1, 1, 2] {
            #expect(try await container.resolve(Measured.self, arguments: Asking(number, container)).size == number)
        }
        try await container.dispose()
    }

    @Test func `arguments are listed while the container holds an instance, not when a storage does`() async throws {
        let shelf = UserStorage()
        let container = Container {
            Registration(Measured.self, lifetime: Lifetime("shelf") { shelf }) { (_, text: String) in
                Measured(text.count)
            }
        }
        _ = try await container.resolve(Measured.self, arguments: "a")
        #expect(await container.cachedArguments(of: Measured.self, String.self) == [])
    }

    @Test func `a cycle through withInstance is found in its first round`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Measured.self, lifetime: .transient) { r in
                runs.increment()
                guard let container = r.container else { return Measured(0) }
                return try await container.withInstance(Measured.self) { $0 }
            }
        }
        let error = await #expect(throws: ResolutionError.self) { _ = try await container.resolve(Measured.self) }
        #expect(error?.path.map(\.description) == ["Measured", "Measured"])
        #expect(runs.value == 1)
    }
}
