public import AsyncDI

/// The failure of a chaos test's round, with the means to repeat it.
public struct ChaosFailure: Error, CustomStringConvertible {
    /// The seed of the round: `withChaos(seed: …, rounds: 1)` repeats it, with the same faults and resets.
    public let seed: UInt64
    /// The violated invariants.
    public let problems: [String]
    /// The faults and the calls that they hit, in order.
    public let plan: [String]

    /// The problems, the seed and the plan.
    public var description: String {
        "chaos: " + problems.joined(separator: " ")
            + "\nRepeat it by withChaos(seed: \(seed), rounds: 1) with the same faults and resets. The plan:"
            + (plan.isEmpty ? " nothing" : plan.map { "\n- \($0)" }.joined())
    }
}

/// Runs a body many times, each time with a new container whose factories and hooks suspend, are slow, throw or are
/// cancelled, by a seeded plan.
///
/// ```swift
/// @Test func `checkout survives chaos`() async throws {
///     try await withChaos(seed: 1, rounds: 200) {
///         AppModule()
///     } operation: { container in
///         try await withThrowingTaskGroup { group in
///             for _ in 0..<8 { group.addTask { _ = try await container.resolve(Checkout.self) } }
///             try await group.waitForAll()
///         }
///     }
/// }
/// ```
/// After each round the container is disposed. The round fails when the body or the disposal does not end in time, when
/// a singleton or scoped instance was created twice in one container, when an instance was disposed twice or not at
/// all, and when observers missed an error of a shared instance or an `onDispose` hook. The body may throw the planned
/// errors: ``ChaosError``, and in a round whose plan throws or cancels anything `CancellationError`; also a
/// `DisposalError`, `ResolutionError` or `StartFailure` that they cause. Any other error fails the round.
///
/// In the body, the container of the round is ``AsyncDI/Container/test``, and ``AsyncDI/Container/events`` are those of
/// the round. In a task that is cancelled, the round still ends and disposes its container, in the same time.
///
/// - Parameters:
///   - seed: The seed of the first round; each later round has the next number.
///   - rounds: The number of rounds, at least one.
///   - patience: The time limit of a round's body, and then of its disposal; longer on a machine that is busy with
///     other tests.
///   - faults: The faults that the plan may use.
///   - resets: Whether the body resets, drains or replaces singletons or scoped instances. One may then be created
///     again during an earlier creation of it, which is otherwise a failure.
///   - defaultLifetime: The lifetime of registrations without one, as in the application's own container.
///   - registrations: The registrations; evaluated for each round.
///   - operation: The body. After its time limit it is cancelled and left behind.
/// - Throws: ``ChaosFailure``; `CancellationError`.
public nonisolated(nonsending) func withChaos(
    seed: UInt64, rounds: Int = 100, patience: Duration = .seconds(20),
    faults: Set<ChaosFault> = Set(ChaosFault.allCases), resets: Bool = false, defaultLifetime: Lifetime = .graph,
    @RegistrationBuilder _ registrations: () -> Registrations,
    operation: @escaping @Sendable (Container) async throws -> Void
) async throws {
    for plan in ChaosPlan.rounds(rounds, from: seed, faults: faults) {
        let round = ChaosRound(plan, registrations(), resets: resets, defaultLifetime: defaultLifetime)
        try await round.run(patience: patience, operation)
    }
}

/// Runs a body many times with the registrations, default lifetime, clock and observers of the current test's
/// container, as ``withChaos(seed:rounds:patience:faults:resets:defaultLifetime:_:operation:)`` does.
///
/// - Parameters:
///   - seed: The seed of the first round; each later round has the next number.
///   - rounds: The number of rounds, at least one.
///   - patience: The time limit of a round's body, and then of its disposal; longer on a machine that is busy with
///     other tests.
///   - faults: The faults that the plan may use.
///   - resets: Whether the body resets, drains or replaces singletons or scoped instances. One may then be created
///     again during an earlier creation of it, which is otherwise a failure.
///   - operation: The body. After its time limit it is cancelled and left behind.
/// - Throws: ``ChaosFailure``; `CancellationError`; ``TestContainerError/noTestContainer``;
///   ``TestContainerError/noRepeatableRegistrations``.
public nonisolated(nonsending) func withChaos(
    seed: UInt64, rounds: Int = 100, patience: Duration = .seconds(20),
    faults: Set<ChaosFault> = Set(ChaosFault.allCases), resets: Bool = false,
    operation: @escaping @Sendable (Container) async throws -> Void
) async throws {
    guard let session = TestContainer.current?.session else { throw TestContainerError.noTestContainer }
    guard let make = session.makeRegistrations else { throw TestContainerError.noRepeatableRegistrations }
    for plan in ChaosPlan.rounds(rounds, from: seed, faults: faults) {
        // An override that the rounds resolve is one that the test resolves.
        let round = ChaosRound(
            plan, make(), resets: resets, defaultLifetime: session.options.defaultLifetime,
            clock: session.options.makeClock(), observers: session.options.observers, usesSeenBy: session.watcher)
        try await round.run(patience: patience, operation)
    }
}

extension ChaosPlan {
    /// The plans of several rounds, with one seed after the other.
    fileprivate static func rounds(_ count: Int, from seed: UInt64, faults: Set<ChaosFault>) -> some Sequence<ChaosPlan>
    {
        (0..<max(count, 1)).lazy.map { ChaosPlan(seed: seed &+ UInt64($0), faults: faults) }
    }
}

/// One round: a container, the body, the disposal, the checks.
struct ChaosRound {
    private let plan: ChaosPlan
    private let interceptor: ChaosInterceptor
    private let log = EventLog()
    private let container: Container

    init(
        _ plan: ChaosPlan, _ registrations: Registrations, resets: Bool, defaultLifetime: Lifetime,
        clock: any Clock<Duration> = ContinuousClock(), observers: [any ContainerObserver] = [],
        usesSeenBy watcher: TestWatcher? = nil
    ) {
        self.plan = plan
        interceptor = ChaosInterceptor(plan, resets: resets, usesSeenBy: watcher)
        container = Container(
            name: "chaos", defaultLifetime: defaultLifetime, observers: [interceptor, log] + observers, clock: clock,
            registrations: registrations)
    }

    nonisolated(nonsending) func run(
        patience: Duration, _ operation: @escaping @Sendable (Container) async throws -> Void
    ) async throws {
        let place = TestContainer(container: container, log: log, session: TestContainer.current?.session)
        let body = Task { try await place.run { try await operation($0) } }
        defer { log.close() }
        guard let result = await Patience.result(of: body, within: patience) else {
            body.cancel()
            let activity = await TestReport.unfinished(in: container, grace: .zero)
            Task { try? await container.dispose() }
            try Task.checkCancellation()
            let unfinished = activity.map(\.message).joined(separator: " ")
            throw failure(["The body has not ended within \(patience). \(unfinished)"], of: interceptor.takeRecord())
        }
        var problems: [String] = []
        if case .failure(let error) = result, !isPlanned(error) {
            problems.append("The body threw what was not planned: \(error).")
        }
        do {
            try await container.dispose(within: patience)
        } catch  where isPlanned(error) {
        } catch {
            problems.append("The disposal failed: \(error)")
        }
        // The disposal has delivered every event.
        try Task.checkCancellation()
        var record = interceptor.takeRecord()
        record.check()
        problems += record.problems
        if !problems.isEmpty { throw failure(problems, of: record) }
    }

    private func failure(_ problems: [String], of record: ChaosRecord) -> ChaosFailure {
        ChaosFailure(seed: plan.seed, problems: problems, plan: record.plan)
    }

    /// Whether an error follows from the plan.
    private func isPlanned(_ error: any Error) -> Bool {
        switch error {
        case is ChaosError: true
        // One failure may cancel what runs beside it.
        case is CancellationError: interceptor.hasFailedCalls
        case let error as DisposalError: error.errors.allSatisfy(isPlanned)
        case let failure as StartFailure: isPlanned(failure.underlying)
        case let error as ResolutionError:
            error.code == .creationCancelled && interceptor.hasFailedCalls
                || error.underlying.map(isPlanned) == true
        default: false
        }
    }
}
