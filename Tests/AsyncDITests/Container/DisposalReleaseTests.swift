import Testing

@testable import AsyncDI

/// The last phase of a disposal, in which instances are released: their deinitializers may close resources.
@Suite(.timeLimit(.minutes(10))) struct DisposalReleaseTests {
    private final class File: Sendable {
        let log: Log<String>
        let meanwhile: @Sendable () -> Void

        init(_ log: Log<String>, _ meanwhile: @escaping @Sendable () -> Void) {
            (self.log, self.meanwhile) = (log, meanwhile)
        }

        deinit {
            log.append("begins to close")
            meanwhile()
            log.append("is closed")
        }
    }

    /// The container that is disposed while the scope's instances are released.
    enum Target: CaseIterable, Sendable { case scope, parent }

    @Test(arguments: Target.allCases, [true, false])
    func `a disposal that begins while instances are released waits for the end of that`(
        target: Target, hasHook: Bool
    ) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let log = Log<String>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
                .onDispose { _ in log.append("the parent closes") }
        }
        _ = try await container.resolve(Thing.self)
        let scope = try await container.openScope("scope")
        // Not through the actor, whose turn would come later.
        let disposed = target == .scope ? scope.core : container.core
        let second = Locked<Task<Void, any Error>?>(nil)
        let file = Registration(File.self, lifetime: .singleton) { _ in
            File(log) {
                // It runs in this thread as far as it can.
                let task = Task.immediateDetached {
                    try await disposed.dispose()
                    log.append("disposed again")
                }
                second.withLock { $0 = task }
            }
        }
        try await scope.register(hasHook ? file.onDispose { _ in } : file)
        _ = try await scope.resolve(File.self)
        try await scope.dispose()
        try await second.withLock { $0 }?.value
        let first = ["begins to close", "is closed"]
        #expect(log.entries == first + (target == .scope ? [] : ["the parent closes"]) + ["disposed again"])
        try await container.dispose()
    }

    /// An argument that opens a gate at its end.
    private final class Token: Hashable, Sendable {
        private let hasEnded: Gate

        init(_ hasEnded: Gate) { self.hasEnded = hasEnded }

        deinit { hasEnded.open() }

        static func == (first: Token, second: Token) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    @Test func `a hook can wait for the end of the arguments of a creation that its disposal stops`() async throws {
        let (isCreating, isCancelled, hasEnded) = (Gate(), Gate(), Gate())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await hasEnded.pass() }
            Registration(File.self, lifetime: .multiton) { (_, _: Token) in
                isCreating.open()
                await withTaskCancellationHandler {
                    await isCancelled.pass()
                } onCancel: {
                    isCancelled.open()
                }
                throw CancellationError()
            }
        }
        _ = try await container.resolve(Thing.self)
        let request = Task { _ = try await container.resolve(File.self, arguments: Token(hasEnded)) }
        await isCreating.pass()
        try await container.dispose()
        await expect(.disposed) { try await request.value }
    }

    @Test func `a wait for a disposal that has ended leaves nothing in the graph of waits`() throws {
        weak var ended: Disposal?
        do {
            let disposal = Disposal(below: nil)
            ended = disposal
            disposal.finish()
            let body = Body(begunBy: nil)
            let suspension = Suspension()
            #expect(Waits.begin(suspension, from: Caller(activity: body, run: nil), for: disposal) == nil)
            Waits.end(suspension)
            Waits.end(body)
        }
        #expect(ended == nil)
    }
}
