/// Where code without a container at hand finds one: the task's current container, or else the process-wide default.
///
/// The current container is bound by ``Container/withScope(_:registrations:operation:)`` and by `with`; the innermost
/// one wins.
/// ```swift
/// Injection.default = Container { AppModule() }
///
/// let users = try await resolve((any UserRepository).self)      // from the default container
///
/// try await Injection.with(Container { Registration((any UserRepository).self, instance: StubRepository()) }) {
///     let users = try await resolve((any UserRepository).self)  // the stub: no other test's
/// }
/// ```
public enum Injection {
    private static let state = DefaultContainer()

    /// The container for tasks that have no current one, in the whole process; nil until it is set.
    ///
    /// Replacing it does not dispose the old one.
    public static var `default`: Container? {
        get { state.container }
        set { state.container = newValue }
    }

    /// Sets how the default container is created, once, on its first use.
    ///
    /// Other threads that need it wait meanwhile, so only register in it. Inside, the default container is nil.
    /// ```swift
    /// Injection.setDefault { Container { AppModule() } }
    /// ```
    /// - Parameter make: Makes the container.
    public static func setDefault(_ make: @escaping @Sendable () -> Container) { state.set(make) }

    /// The container in use here and now: the current one, or else the one whose factory is running, or else the
    /// default.
    ///
    /// A task that outlives its current scope has the next container outwards that is open. What belonged to the scope
    /// is refused there too, with ``ResolutionError/Code/disposed``.
    public static var container: Container? {
        current ?? (ResolutionContext.activeRun?.host as? ContainerCore)?.handle() ?? `default`
    }

    /// The current container; in place of one that has ended, the nearest one around it that is open, if there is one.
    private static var current: Container? {
        guard let current = Container.current, current.core.hasEnded else { return Container.current }
        var next = current.core.parent
        while let core = next {
            if !core.hasEnded, let container = core.handle() { return container }
            next = core.parent
        }
        return current
    }

    /// Whether a request was refused only because the current container has ended since it was asked: it is made again.
    static func isOvertaken(_ error: any Error, asking container: Container) -> Bool {
        guard container === Container.current, let next = current else { return false }
        return next.core.isOvertaken(error, asking: container.core)
    }

    /// The run of a factory in the container that is asked here and now.
    ///
    /// What the factory makes must not keep that container alive, and asks as the factory would.
    static var maker: Run? {
        guard let run = ResolutionContext.activeRun else { return nil }
        return current.map { $0.core === run.host } ?? true ? run : nil
    }

    /// Makes a container the current one while a body runs, for its task and its children.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - body: What runs, isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public nonisolated(nonsending) static func with<R, Failure: Error>(
        _ container: Container, _ body: () async throws(Failure) -> sending R
    ) async throws(Failure) -> sending R {
        do {
            return try await Container.$current.bind(container) { try await body() }
        } catch {
            // Nothing but the body throws in there.
            guard let failure = error as? Failure else { preconditionFailure("the body throws \(Failure.self)") }
            throw failure
        }
    }

    /// Makes a container the current one while a synchronous body runs.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - body: What runs.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public static func with<R, Failure: Error>(
        _ container: Container, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        let result: Result<R, Failure> = Container.$current.withValue(container) { Result(catching: body) }
        return try result.get()
    }

    static func noContainer(_ key: ServiceKey) -> ResolutionError {
        ResolutionError(
            .noCurrentContainer, "\(key) was requested without a current or a default container.",
            advice: "Set Injection.default at start-up, or run the code inside withScope or Injection.with(container).",
            steps: [PathStep(key: key, binding: nil, pack: .none)])
    }
}

/// The default container, which may be made on first use.
private final class DefaultContainer: Sendable {
    private enum State {
        case container(Container?)
        case maker(@Sendable () -> Container)
    }

    private let state = Locked(State.container(nil))
    /// Held while the container is made, so that it is made once; never by a thread that is making it.
    private let making = Locked(0)
    @TaskLocal private static var isMaking = false

    var container: Container? {
        get {
            if case .container(let container) = current { return container }
            if Self.isMaking { return nil }
            return making.withLock { count in
                count += 1
                // Another thread may have made it while this one waited.
                guard case .maker(let make) = current else { return madeContainer }
                let container = Self.$isMaking.withValue(true) { make() }
                set(.container(container), unlessChanged: true)
                return container
            }
        }
        set { set(.container(newValue), unlessChanged: false) }
    }

    func set(_ make: @escaping @Sendable () -> Container) { set(.maker(make), unlessChanged: false) }

    private var current: State { state.withLock { $0 } }

    private var madeContainer: Container? {
        if case .container(let container) = current { container } else { nil }
    }

    /// Stores the new state; the old container is released outside the lock.
    private func set(_ new: State, unlessChanged: Bool) {
        let old = state.withLock { state in
            if unlessChanged, case .container = state { return state }
            defer { state = new }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
