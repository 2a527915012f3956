import Testing

@testable import AsyncDI

/// The end of a `withContainer` is that of a process: it waits no longer than a call with a deadline.
@Suite(.timeLimit(.minutes(10))) struct WithContainerDeadlineTests {
    private let clock = ManualClock()
    private let isClosing = Gate()
    private let mayClose = Gate()

    /// A service whose hook does not return before the gate opens.
    private var stuck: Registration<Int> {
        Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
            .onDispose { [isClosing, mayClose] _ in
                isClosing.open()
                await mayClose.pass()
            }
    }

    private struct Failure: Error {}

    /// Blocks its thread at the first disposal until the gate opens.
    private struct StuckObserver: ContainerObserver {
        let gate = ThreadGate()

        var wantedEvents: ContainerEvent.Kinds { .disposed }
        func container(_ container: Container, did event: ContainerEvent) { gate.wait() }
    }

    enum Way: CaseIterable { case drain, dispose }

    @Test(arguments: Way.allCases)
    func `after a call that has given up, the end does not wait for the hook again`(way: Way) async throws {
        let main = Task {
            try await withContainer(name: "app", clock: clock) {
                stuck
            } operation: { container in
                let error = await #expect(throws: DisposalError.self) {
                    switch way {
                    case .drain: try await container.drain(deadline: .seconds(1))
                    case .dispose: try await container.dispose(deadline: .seconds(1))
                    }
                }
                #expect(error.map { ResolutionError.Code.disposalTimedOut ~= $0.errors[0] } == true)
            }
        }
        await isClosing.pass()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        let error = await expect(.disposalTimedOut) { try await main.value }
        #expect(error?.message.contains("the onDispose of Int") == true)
        mayClose.open()
    }

    @Test func `a clock that sleeps but stands still ends the wait, too`() async throws {
        await expect(.disposalTimedOut) {
            try await finishes {
                try await withContainer(clock: StandingClock(), disposalDeadline: .seconds(1)) {
                    stuck
                } operation: { _ in
                }
            }
        }
        mayClose.open()
    }

    @Test func `the error of the body comes first`() async throws {
        let main = Task {
            try await withContainer(clock: clock) {
                stuck
            } operation: { container in
                try? await container.drain(deadline: .seconds(1))
                throw Failure()
            }
        }
        await isClosing.pass()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: Failure.self) { try await main.value }
        mayClose.open()
    }

    @Test func `the deadline of a call that comes later ends a wait that has begun`() async throws {
        let (hasContainer, container) = (Gate(), Locked<Container?>(nil))
        let main = Task {
            try await withContainer(clock: clock) {
                stuck
            } operation: { own in
                container.withLock { $0 = own }
                hasContainer.open()
            }
        }
        await hasContainer.pass()
        // The end of the body waits for the hook, without a deadline.
        await isClosing.pass()
        let other = container.withLock { $0 }
        let call = Task { try await other?.dispose(deadline: .seconds(1)) }
        // That of the call, and that of the end, which has noticed it.
        await clock.sleepers(reach: 2)
        clock.advance(by: .seconds(1))
        await #expect(throws: DisposalError.self) { try await call.value }
        await #expect(throws: ResolutionError.self) { try await main.value }
        mayClose.open()
    }

    @Test func `a call that was refused leaves no deadline behind`() async throws {
        let main = Task {
            try await withContainer(clock: clock) {
                stuck
            } operation: { container in
                _ = try await container.withScope { _ in
                    await expect(.invalidOperation) { try await container.drain(deadline: .seconds(1)) }
                }
                clock.advance(by: .seconds(60))
                #expect(try await container.resolve(Int.self) == 1)
            }
        }
        await isClosing.pass()
        mayClose.open()
        try await main.value
    }

    @Test func `a deadline that comes while the end waits for an observer ends that wait`() async throws {
        let observer = StuckObserver()
        let container = Locked<Container?>(nil)
        let main = Task {
            try await withContainer(observers: [observer], clock: clock) {
                Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
            } operation: { own in
                container.withLock { $0 = own }
            }
        }
        await until { container.withLock { $0 }?.core.withState { $0.limitedWait != nil && $0.life.isOver } == true }
        let other = container.withLock { $0 }
        let call = Task { try await other?.dispose(deadline: .seconds(1)) }
        await clock.sleepers(reach: 2)
        clock.advance(by: .seconds(1))
        try await call.value
        try await main.value
        observer.gate.open()
    }

    @Test func `a disposal that ends in time is waited for to its end`() async throws {
        let main = Task {
            try await withContainer(clock: clock, disposalDeadline: .seconds(60)) {
                stuck
            } operation: { container in
                container.core.noteDeadline(.seconds(50))
            }
        }
        await isClosing.pass()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(49))
        mayClose.open()
        try await main.value
    }

    enum Body: CaseIterable { case returns, fails, isNotReached }

    @Test(arguments: Body.allCases)
    func `a deadline for the disposal bounds every end, also that of a failed start`(body: Body) async throws {
        let main = Task {
            try await withContainer(clock: clock, disposalDeadline: .seconds(1)) {
                stuck
                if body == .isNotReached {
                    Registration(Bool.self, lifetime: .singleton) { r in
                        _ = try await r.resolve(Int.self)
                        throw Failure()
                    }.eager()
                }
            } operation: { _ in
                if body == .fails { throw Failure() }
            }
        }
        await isClosing.pass()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        switch body {
        case .returns:
            await expect(.disposalTimedOut) { try await main.value }
        case .fails, .isNotReached:
            await #expect(throws: Failure.self) { try await main.value }
        }
        mayClose.open()
    }

    @Test func `observers receive the error of the deadline beside that of the body`() async throws {
        let observer = RecordingObserver(.failed)
        let main = Task {
            try await withContainer(observers: [observer], clock: clock, disposalDeadline: .seconds(1)) {
                stuck
            } operation: { _ in
                throw Failure()
            }
        }
        await isClosing.pass()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: Failure.self) { try await main.value }
        await observer.received(1)
        #expect(observer.events.count == 1)
        #expect(observer.events.first?.description.hasPrefix("failed Int: disposalTimedOut") == true)
        mayClose.open()
    }

    @Test func `a hook that blocks its thread does not hold the end up either`() async throws {
        let gate = ThreadGate()
        try await takingAThread {
            await expect(.disposalTimedOut) {
                try await withContainer(disposalDeadline: .milliseconds(1)) {
                    Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager().onDispose { _ in gate.wait() }
                } operation: { _ in
                }
            }
            gate.open()
        }
    }

    @Test(arguments: [true, false])
    func `an observer that does not return does not hold the end up either`(isDrained: Bool) async throws {
        let observer = StuckObserver()
        let main = Task {
            try await withContainer(
                observers: [observer], clock: clock, disposalDeadline: isDrained ? nil : .seconds(1)
            ) {
                Registration(Int.self, lifetime: .singleton) { _ in 1 }.eager()
            } operation: { container in
                if isDrained { try await container.drain(deadline: .seconds(1)) }
            }
        }
        // Everything but the observer is over at once.
        try await clock.pass(during: main)
        observer.gate.open()
    }
}
