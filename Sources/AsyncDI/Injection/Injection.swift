/// The container for code without one at hand: the task's current container, or else the process-wide default.
///
/// The current container is bound by ``Container/withScope(_:registrations:operation:)`` and by `with`; the innermost
/// one wins.
/// ```swift
/// Injection.default = Container { AppModule() }
///
/// let users = try await resolve((any UserRepository).self)  // from the default container
///
/// try await Injection.with(Container { Registration((any UserRepository).self, instance: StubRepository()) }) {
///     let users = try await resolve((any UserRepository).self)  // the stub of this test
///     print(try await users.names())
/// }
/// ```
public enum Injection {
    private static let state = DefaultContainer()

    /// The default container of the whole process, for tasks without a current one; nil until it is set.
    ///
    /// Replacing it does not dispose the old one.
    public static var `default`: Container? {
        get { state.container }
        set { state.container = newValue }
    }

    /// Sets how the default container is created, once, at its first use.
    ///
    /// Other threads that need the container wait meanwhile, so the closure should only register. Inside it, there is
    /// neither a default nor a current container; your own task-locals have their values at the first use.
    /// ```swift
    /// Injection.setDefault { Container { AppModule() } }
    /// ```
    /// - Parameter make: Creates the container.
    public static func setDefault(_ make: @escaping @Sendable () -> Container) { state.set(make) }

    /// The container that applies here: the current one, or else the one whose factory is running, or else the default.
    ///
    /// A task that outlives its current scope gets the nearest open container around it. Services of the ended scope
    /// are refused there, with ``ResolutionError/Code/disposed``.
    public static var container: Container? {
        Container.openCurrent ?? (ResolutionContext.activeRun?.host as? ContainerCore)?.handle() ?? `default`
    }

    /// The requester for a container that was given, or else for the one that applies here.
    static func requester(from given: Container? = nil) -> _Requester? {
        given.map { .container($0) } ?? container.map { .task(of: $0) }
    }

    /// The run of a factory in the container that applies here.
    ///
    /// Objects that the factory creates must not keep that container alive, and they resolve as the factory would.
    static var maker: Run? {
        guard let run = ResolutionContext.activeRun else { return nil }
        return Container.openCurrent.map { $0.core === run.host } ?? true ? run : nil
    }

    /// Makes a container the current one while a body runs, for its task and its children.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - body: The body, isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public nonisolated(nonsending) static func with<R, Failure: Error>(
        _ container: Container, _ body: () async throws(Failure) -> sending R
    ) async throws(Failure) -> sending R {
        do {
            return try await container.whileCurrent { try await body() }
        } catch {
            // Only the body throws in there.
            guard let failure = error as? Failure else { preconditionFailure("the body throws \(Failure.self)") }
            throw failure
        }
    }

    /// Makes a container the current one while a synchronous body runs.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - body: The body.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func with<R, Failure: Error>(
        _ container: Container, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        try container.whileCurrent(body)
    }

    static func noContainer(_ key: ServiceKey) -> ResolutionError {
        ResolutionError(
            .noCurrentContainer, "\(key) was requested without a current or a default container.",
            advice: "Set Injection.default at start-up, or run the code inside withScope or Injection.with(container).",
            steps: [PathStep(key: key)])
    }
}

/// The default container, which may be created at first use.
private final class DefaultContainer: Sendable {
    /// An object, so that one closure can be told from another.
    private typealias Maker = Shared<@Sendable () -> Container>

    private enum State {
        case container(Container?)
        case maker(Maker)
    }

    private let state = Locked(State.container(nil))
    /// Held during the container's creation, so that it is created once; never by the thread that is creating it.
    ///
    /// Counts the closures that were called, because the value of a lock needs a size.
    private let making = Locked(0)
    @TaskLocal private static var isMaking = false

    var container: Container? {
        get {
            if case .container(let container) = current { return container }
            if Self.isMaking { return nil }
            // Released outside the lock: a closure, or a container that another one has replaced meanwhile.
            var replaced: [State] = []
            defer { withExtendedLifetime(replaced) {} }
            return making.withLock { calls in
                // Another thread may have created it while this one waited, and the closure may be replaced while it
                // runs.
                while case .maker(let maker) = current {
                    calls += 1
                    replaced.append(.maker(maker))
                    let container = Self.whileMaking(maker.value)
                    replaced.append(.container(container))
                    set(.container(container), insteadOf: maker)
                }
                if case .container(let container) = current { return container }
                return nil
            }
        }
        set { set(.container(newValue)) }
    }

    /// Calls a closure outside the current container, body and factory of its task: what it creates belongs to none.
    private static func whileMaking(_ make: () -> Container) -> Container {
        $isMaking.withValue(true) {
            ResolutionContext.$run.withValue(nil) {
                LeaseContext.$body.withValue(nil) {
                    CurrentContainers.$bound.withValue(nil) { Container.$current.withValue(nil, operation: make) }
                }
            }
        }
    }

    func set(_ make: @escaping @Sendable () -> Container) { set(.maker(Maker(make))) }

    private var current: State { state.withLock { $0 } }

    /// Stores the new state, unless another one than `maker` is there; the old one is released outside the lock.
    private func set(_ new: State, insteadOf maker: Maker? = nil) {
        let old = state.withLock { state in
            if let maker {
                guard case .maker(let current) = state, current === maker else { return state }
            }
            defer { state = new }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
