import Testing

@testable import AsyncDI

/// A span of a trace, as tracing libraries keep it: in a task-local.
private struct Span: Sendable {
    @TaskLocal static var current: String?
}

private struct Database: Sendable {}
private struct Catalogue: Sendable {}

/// Wrappers of the creation of a shared instance.
@Suite(.timeLimit(.minutes(10))) struct AroundCreationTests {
    private struct Tracing: ContainerObserver, AroundCreation {
        let spans: Log<String>

        func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
            let parent = Span.current
            let name = "\(creation.key)\(creation.arguments.map { " \($0)" }.joined())"
            return { create in
                spans.append("\(parent ?? "-") > \(name)")
                try await Span.$current.withValue(name) { try await create() }
                spans.append("end \(name)")
            }
        }
    }

    /// Wraps with a closure of the test.
    private struct Around: ContainerObserver, AroundCreation {
        let wrapper: CreationWrapper?
        func willCreate(_ creation: CreationRequest) -> CreationWrapper? { wrapper }
    }

    @Test func `a creation is a child of the span of its request, also where its task has no task-locals`() async throws
    {
        let spans = Log<String>()
        let container = Container(observers: [Tracing(spans: spans)]) {
            Registration(Database.self, lifetime: .singleton) { _ in
                spans.append("factory in \(Span.current ?? "-")")
                return Database()
            }
            .onCreate { _, _ in spans.append("hook in \(Span.current ?? "-")") }
            Registration(Catalogue.self, lifetime: .multiton) { (resolver, _: Int) in
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
            Registration(Int.self, lifetime: .transient) { _ in 1 }
        }
        try await Span.$current.withValue("GET /") {
            _ = try await container.resolve(Int.self)
            _ = try await container.resolve(Catalogue.self, arguments: 7)
            _ = try await container.resolve(Catalogue.self, arguments: 7)
        }
        let name = "Catalogue(Int) 7"
        #expect(
            spans.entries == [
                "GET / > \(name)", "\(name) > Database", "factory in Database", "hook in Database", "end Database",
                "end \(name)",
            ])
    }

    @Test func `several wrap in their order, and scopes have those of their container`() async throws {
        let log = Log<String>()
        func around(_ name: String) -> Around {
            Around { create in
                log.append("begin \(name)")
                try await create()
                log.append("end \(name)")
            }
        }
        let container = Container(observers: [around("a"), Around(wrapper: nil), around("b")]) {
            Registration(Database.self, lifetime: .scoped) { _ in Database() }
        }
        try await container.withScope { scope in _ = try await scope.resolve(Database.self) }
        #expect(log.entries == ["begin a", "begin b", "end b", "end a"])
    }

    @Test func `the factory's error is the request's, whatever a wrapper makes of it`() async throws {
        for wrapper: CreationWrapper in [
            { create in try? await create() },
            { create in
                do { try await create() } catch { throw TestError(2) }
            },
            { create in try await create() },
        ] {
            let container = Container(observers: [Around(wrapper: wrapper)]) {
                Registration(Database.self, lifetime: .singleton) { _ in throw TestError(1) }
            }
            await #expect(throws: TestError(1)) { try await container.resolve(Database.self) }
        }
    }

    @Test func `an error of a wrapper after the creation fails it, and the instance is disposed`() async throws {
        let disposed = Log<String>()
        let container = Container(
            observers: [
                Around { create in
                    try await create()
                    throw TestError(3)
                }
            ]
        ) {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
                .onDispose { _, reason in disposed.append("\(reason.error.map { "\($0)" } ?? "nil")") }
        }
        await #expect(throws: TestError(3)) { try await container.resolve(Database.self) }
        try await container.dispose()
        #expect(disposed.entries == ["\(TestError(3))"])
    }

    @Test func `a cancellation that a wrapper throws by itself is not that of the request`() async throws {
        let container = Container(
            observers: [
                Around { create in
                    try await create()
                    throw CancellationError()
                }
            ]
        ) {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
        }
        await expect(.creationCancelled) { try await container.resolve(Database.self) }
    }

    @Test func `a wrapper that does not create, or creates twice, fails the request`() async throws {
        let runs = Counter()
        for wrapper: CreationWrapper in [
            { _ in },
            { create in
                try await create()
                try await create()
            },
        ] {
            let container = Container(observers: [Around(wrapper: wrapper)]) {
                Registration(Database.self, lifetime: .singleton) { _ in
                    runs.increment()
                    return Database()
                }
            }
            let error = await expect(.invalidOperation) { try await container.resolve(Database.self) }
            #expect(error?.path == [ServiceKey(Database.self)])
        }
        #expect(runs.value == 1)
    }

    @Test func `a wrapper that requests the instance itself is refused, and does not hang`() async throws {
        let box = Locked<Container?>(nil)
        let container = Container(
            observers: [
                Around { create in
                    _ = try await box.withLock { $0 }?.resolve(Database.self)
                    try await create()
                }
            ]
        ) {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
        }
        box.withLock { $0 = container }
        await expect(.circularDependency) {
            try await finishes { try await container.resolve(Database.self) }
        }
        box.withLock { $0 = nil }
    }

    @Test func `a creation that a reset overtakes before it begins is no event, and is not wrapped`() async throws {
        final class Witness: ContainerObserver, AroundCreation {
            let (asked, events) = (Log<String>(), Log<String>())
            var wantedEvents: ContainerEvent.Kinds { [.created, .failed] }
            func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
                asked.append(Span.current ?? "-")
                return { create in try await create() }
            }
            func container(_ container: Container, did event: ContainerEvent) {
                if case .created = event { events.append("created") } else { events.append("\(event)") }
            }
        }
        let witness = Witness()
        let closing = Gate()
        let container = Container(observers: [witness]) {
            Registration(Database.self, lifetime: .multiton) { (_, _: Int) in Database() }
                .onDispose { _ in await closing.pass() }
        }
        func request(_ span: String) async throws {
            try await Span.$current.withValue(span) { _ = try await container.resolve(Database.self, arguments: 1) }
        }
        try await request("first")
        let reset = Task { try await container.reset(Database.self) }
        await closing.arrived()
        let second = Task { try await request("second") }
        while container.activity().creations.isEmpty { await Task.yield() }
        // Now the second one's creation is overtaken while it waits for the first one's disposal.
        try await container.reset(Database.self)
        let third = Task { try await request("third") }
        while container.activity().creations.count != 2 { await Task.yield() }
        closing.open()
        try await reset.value
        try await second.value
        try await third.value
        try await container.dispose()
        #expect(witness.asked.entries == ["first", "third"])
        #expect(witness.events.entries == ["created", "created"])
    }

    @Test func `an observer around creations is told of no events unless it wants some`() {
        #expect(Around(wrapper: nil).wantedEvents == [])
    }

    private final class Wheel: Sendable {}

    /// Keeps the errors of creations, as a tracer does for its failed spans.
    private final class Keeper: ContainerObserver, AroundCreation {
        private let errors: Log<any Error>
        init(_ errors: Log<any Error>) { self.errors = errors }

        func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
            let errors = errors
            return { create in
                do {
                    try await create()
                } catch {
                    errors.append(error)
                    throw error
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `an error that an observer or a hook keeps does not keep the container`(isOfHook: Bool) async throws {
        weak let wheel: Wheel? = await {
            let (wheel, kept) = (Wheel(), Log<any Error>())
            let container = Container(observers: isOfHook ? [] : [Keeper(kept)]) {
                Registration(Int.self, lifetime: .singleton) { _ in Int(bitPattern: ObjectIdentifier(wheel)) }
                    .injectProperties { resolver, _ in _ = try await resolver.resolve(String.self) }
                    .onDispose { [kept] _, reason in
                        if isOfHook, let error = reason.error { kept.append(error) }
                    }
            }
            await expect(.notRegistered) { _ = try await container.resolve(Int.self) }
            await until { kept.entries.count == 1 }
            return wheel
        }()
        // The disposal of the instance may go on for a moment.
        await until { wheel == nil }
    }
}
