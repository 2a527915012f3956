/// An observer that wraps each creation of a shared instance: it opens a span, or sets a logger's metadata.
///
/// Pass it to a container among its observers. Containers without one have no additional cost.
/// ```swift
/// struct CreationTracing: ContainerObserver, AroundCreation {
///     func willCreate(_ creation: CreationRequest) -> CreationWrapper? {
///         let context = ServiceContext.current ?? .topLevel
///         return { create in
///             try await withSpan("create \(creation.key)", context: context) { _ in try await create() }
///         }
///     }
/// }
/// ```
/// `willCreate` runs in the task of the request: a singleton's factory has a task without the request's task-locals.
/// Transient and graph instances are created in the task of their request, and are not wrapped. `ContainerInterceptor`,
/// which refines this protocol for tests, sees the factories of those too.
public protocol AroundCreation: Sendable {
    /// Called before a creation begins.
    ///
    /// Called synchronously in the task of the request that begins the creation, with its task-locals. A creation that
    /// first waits for the disposal of an earlier instance calls this when that wait is over, in a task that inherits
    /// the request's task-locals; one that is reset meanwhile never does. Factories that request other services are
    /// inside the wrappers of their own creations.
    ///
    /// - Parameter creation: The instance to be created.
    /// - Returns: The wrapper of the factory and the `onCreate` hooks; nil for none.
    func willCreate(_ creation: CreationRequest) -> CreationWrapper?
}

/// Wraps the factory and the hooks of one creation, in the task of the creation.
///
/// It calls its argument once, which throws the factory's error. The requests get that error even when the wrapper
/// throws another one or none. When the wrapper throws after a successful creation, the creation fails. A wrapper that
/// never calls its argument fails the creation with ``ResolutionError/Code/invalidOperation``.
public typealias CreationWrapper =
    nonisolated(nonsending) @Sendable (nonisolated(nonsending) () async throws -> Void) async throws -> Void

/// The instance that a creation is about to produce.
public struct CreationRequest: Sendable {
    /// The service.
    public let key: ServiceKey
    /// The arguments of the instance, or the key that `keyedBy:` computed from them.
    public var arguments: [any Sendable] { argumentKey.list }
    /// The source location of the registration.
    public let site: RegistrationSite?
    /// The container that the instance will belong to, as messages show it.
    public var container: String { title.text }
    private let argumentKey: ArgumentKey
    private let title: ContainerTitle

    init(_ creation: Creation) {
        key = creation.binding.key
        argumentKey = creation.key.arguments
        site = creation.binding.blueprint.site
        title = creation.host.title
    }
}

/// The wrappers of a creation that waits for its predecessor, asked for when that wait is over.
final class LaterWrappers: Sendable {
    private let task: Task<[CreationWrapper], Never>
    private let begin: AsyncStream<Void>.Continuation

    /// Nil when no observer has any.
    ///
    /// Made in the task of the request that begins the creation, whose task-locals the new task inherits.
    init?(of creation: Creation) {
        if creation.host.aroundCreations.isEmpty { return nil }
        let (begins, begin) = AsyncStream<Void>.makeStream()
        self.begin = begin
        task = Task {
            for await _ in begins { return creation.wrappers }
            return []
        }
    }

    /// Asks the observers: the creation begins.
    @inline(never)
    func take() async -> [CreationWrapper] {
        begin.yield()
        return await task.value
    }

    /// The creation has ended, whether it has begun or not.
    func giveUp() { begin.finish() }
}

extension Creation {
    /// The wrapper that observers add to this creation, the first one's outermost.
    ///
    /// Called in the task of the request that begins the creation, outside every lock.
    var wrappers: [CreationWrapper] {
        let observers = host.aroundCreations
        if observers.isEmpty || binding.blueprint.isHidden { return [] }
        let request = CreationRequest(self)
        return observers.compactMap { $0.willCreate(request) }
    }

    /// Runs the factory and the hooks inside wrappers.
    func makeInstance(
        in run: Run, wrappedBy wrappers: ArraySlice<CreationWrapper>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Cell {
        guard let wrapper = wrappers.first else {
            let instance = try await makeInstance(in: run, isolation: isolation)
            if binding.hasHooks { try await binding.runHooks(instance, in: run) }
            return instance
        }
        var result: Result<Cell, any Error>?
        do {
            // In the run of the creation: a wrapper that requests its own instance is refused like a factory.
            try await run.call(isolation: isolation) {
                try await wrapper {
                    guard result == nil else { throw self.wronglyWrapped("has called its argument before", run) }
                    do {
                        let made = try await self.makeInstance(in: run, wrappedBy: wrappers.dropFirst())
                        // To be disposed if the wrapper fails.
                        self.show(made)
                        result = .success(made)
                    } catch {
                        result = .failure(error)
                        // The observer may keep it, and its runs keep the container, and with it the observer.
                        throw ResolutionError.withoutOrigins(error)
                    }
                }
            }
        } catch {
            if case .failure(let failure)? = result { throw failure }
            throw translated(error, in: run)
        }
        guard let result else { throw wronglyWrapped("has not called its argument", run) }
        return try result.get()
    }

    private func wronglyWrapped(_ mistake: String, _ run: Run) -> ResolutionError {
        ResolutionError(
            .invalidOperation, "the wrapper around the creation of \(binding.key) \(mistake).",
            advice: "A wrapper that willCreate returns calls its argument once.", steps: run.path, asker: run)
    }
}
