/// A service that is resolved once, at its first use.
///
/// Every registered service can be resolved as `Lazy` too: as a factory's dependency, as a parameter of a `using:`
/// initializer, or from the container.
/// ```swift
/// struct Editor {
///     let printer: Lazy<any Printer>
///
///     func print() async throws { try await printer().print(self) }
/// }
///
/// Registration(using: Editor.init)
/// ```
/// Its instance belongs to the resolution that the `Lazy` itself came from: graph instances are those of its owner, as
/// long as a reference to them exists. However many tasks call it at once, the service is resolved once; an error is
/// not kept. The captive rule still applies: a long-lived service that uses `Lazy` to get an instance of a
/// shorter-lived scope fails with ``ResolutionError/Code/captiveDependency``.
///
/// A `Lazy` that was created with a container, outside a factory, resolves the service once in each scope of that
/// container in which it is called: no request gets the instance of another request, and each instance is forgotten
/// when its scope ends.
///
/// A `Lazy` keeps its instance. When two services refer to each other through two of them, or through one and a strong
/// reference, that is a cycle of references that nothing breaks, not even the disposal: scoped services then leak with
/// each request. Use a ``Provider`` for one direction; ``release()`` breaks the cycle too.
public struct Lazy<Service: Sendable>: Sendable {
    private let box: LazyBox<Service>

    init(_ source: LazySource) { box = LazyBox(source) }

    /// A service of a container, to be resolved at its first use.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        guard container == nil, let maker = Injection.maker else {
            self.init(LazySource(qualifier: qualifier, container: container ?? Injection.container))
            return
        }
        // As if the running factory had requested it.
        let key = ServiceKey(Lazy<Service>.self, qualifier: qualifier)
        self = Lazy.lazy(for: Request(key: key, pack: .none, host: maker.host, asker: maker))
    }

    /// A service created with arguments, to be resolved at its first use.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    public init<First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) {
        self.init(qualifier: qualifier, from: container)
        use(arguments: first, repeat each rest)
    }

    /// Returns the instance, resolving it at the first call.
    ///
    /// Runs in the caller's isolation.
    ///
    /// - Returns: The instance.
    /// - Throws: The error of resolving the service; ``ResolutionError/Code/noCurrentContainer`` without a container.
    public nonisolated(nonsending) func callAsFunction() async throws -> Service {
        if let instance = box.instanceHere { return instance }
        return try await box.resolve()
    }

    /// Whether no instance is kept: the service has not been resolved yet, or the scopes in which it was have ended.
    public var isEmpty: Bool { box.isEmpty }

    /// Forgets the instance: the next call resolves the service again.
    public func release() { box.change { _ in } }

    /// Resolves the service with these arguments from now on, and forgets the previous instance.
    ///
    /// - Parameters:
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    public func use<First: Sendable, each Argument: Sendable>(arguments first: First, _ rest: repeat each Argument) {
        let pack = Arguments(first, repeat each rest)
        box.change { $0.pack = pack }
    }

    /// Uses another container from now on, and forgets the previous instance.
    ///
    /// - Parameter container: The container to resolve from.
    public func use(_ container: Container) { box.change { $0.container = container } }

    /// Uses another qualifier from now on, and forgets the previous instance.
    ///
    /// - Parameter qualifier: The qualifier that the service was registered with; nil for none.
    public func use(qualifier: (any Qualifier)?) { box.change { $0.qualifier = qualifier } }
}

/// The service of a ``Lazy``, and the container that resolves it.
struct LazySource: Sendable {
    var qualifier: (any Qualifier)?
    var pack = ArgumentPack.none
    /// The container to resolve from; when nil, that of `resolver`, or else the container that is current at the call.
    var container: Container?
    /// The request that returned the `Lazy`, if one did.
    var origin: Request?
}

/// An instance of a ``Lazy``, and the container that it was requested from.
private typealias LazyFound<Service> = (instance: Service, host: any ResolutionHost)

/// The state that the copies of a ``Lazy`` share.
private final class LazyBox<Service: Sendable>: InstanceMemo {
    private struct State {
        var source: LazySource
        /// The instances, by the numbers of the containers that they were requested from: several for scopes of one
        /// container.
        var found: [UInt64: LazyFound<Service>] = [:]
        /// The containers that tell this object of their ends.
        var announced: [UInt64: any ResolutionHost] = [:]
        /// Successive attempts share this place, and so happen one at a time.
        var attempt = LazyAttempt()
    }

    private let state: Locked<State>

    init(_ source: LazySource) { state = Locked(State(source: source)) }

    deinit {
        for host in state.withLock({ $0.announced }).values { host.forgetMemo(ObjectIdentifier(self)) }
    }

    var isEmpty: Bool { state.withLock { $0.found.isEmpty } }

    /// The instance, if a request made here would go to the same container.
    var instanceHere: Service? {
        let (source, found) = state.withLock { ($0.source, $0.found) }
        if found.isEmpty { return nil }
        if let number = source.isFixed ? found.keys.first : source.requester?.resolver.host.number {
            return found[number]?.instance
        }
        return nil
    }

    /// Changes the source, and forgets the instance.
    func change(_ change: (inout LazySource) -> Void) {
        let dropped = state.withLock { state in
            let dropped = (state.source, state.found, state.attempt)
            change(&state.source)
            state.found = [:]
            state.attempt = LazyAttempt()
            return dropped
        }
        // The deinitializers of instances, arguments and containers are user code: not under the lock.
        withExtendedLifetime(dropped) {}
    }

    nonisolated(nonsending) func resolve() async throws -> Service {
        let (source, attempt) = state.withLock { ($0.source, $0.attempt) }
        // Held until the instance is kept here. A caller that finds the graph released, and with it the instance,
        // therefore finds the instance here.
        attempt.graph.enter()
        defer { attempt.graph.leave() }
        if let known = instanceHere, state.withLock({ $0.attempt.graph === attempt.graph }) { return known }
        let found = try await attempt.instance(Service.self, from: source)
        let number = found.host.number
        let (instance, isNew) = state.withLock { state -> (Service, Bool) in
            // Changed meanwhile: this caller gets its result, but the result is not kept.
            guard state.attempt.graph === attempt.graph else { return (found.instance, false) }
            // Of two that were resolved in one container, the first one stays.
            if let known = state.found[number] { return (known.instance, false) }
            state.found[number] = found
            // The instance of a fixed source lives as long as the owner of the `Lazy`.
            if source.isFixed || state.announced[number] != nil { return (found.instance, false) }
            state.announced[number] = found.host
            return (found.instance, true)
        }
        if isNew, !found.host.remember(self) { containerHasEnded(number) }
        return instance
    }

    func containerHasEnded(_ number: UInt64) {
        let dropped = state.withLock { state in
            (state.found.removeValue(forKey: number), state.announced.removeValue(forKey: number))
        }
        // The deinitializer of the instance is user code: not under the lock.
        withExtendedLifetime(dropped) {}
    }
}

/// The place in which a ``Lazy`` resolves its service: a graph of one instance.
///
/// Concurrent callers wait there, are cancelled alone, retry, and fail in a cycle, as in any other graph.
///
/// The graph holds the instance only during a call: the instance's dependencies lead back to the graph.
private struct LazyAttempt: Sendable {
    let graph = ResolutionGraph()
    private let binding = Locked<Binding?>(nil)

    /// Resolves the instance.
    ///
    /// - Returns: The instance, and the container that it was requested from.
    nonisolated(nonsending) func instance<Service: Sendable>(
        _ service: Service.Type, from source: LazySource
    ) async throws -> LazyFound<Service> {
        let requester = source.requester
        var question = try source.question(service, from: requester)
        var graph = graph
        if let outlived = question.graph?.outlived {
            // For this attempt only: another task, one that has outlived no scope, may make the next attempt.
            graph = ResolutionGraph(graph, outliving: outlived.scopes)
            question.graph = outlived.graph
        }
        do {
            try await question.awaitModules()
            // A draining container refuses the attempt, which is a creation of its own, but returns cached instances.
            if question.isRefusedWhileDraining, let cached = try? question.ready(service) {
                return (cached, question.host)
            }
            let recorded = source.origin?.asker?.recorded ?? question.asker?.recorded
            let isDeferred = source.origin?.asker?.isActive == false
            recorded?.asks(for: question.key, of: question.host, isDeferred: isDeferred)
            let request = Request(
                key: ServiceKey(Lazy<Service>.self, qualifier: source.qualifier), pack: .none, host: question.host,
                asker: question.asker, graph: graph, heldBy: question.heldBy)
            while true {
                let cell = try await request.graphInstance(binding(asking: question, service))
                if let instance = cell?.load(as: service) {
                    return (instance, question.host)
                }
            }
        } catch {
            // Two steps, because the graph's instance stands before the service in the path.
            guard requester?.successor(after: error, asking: question.host, depth: 2) != nil else { throw error }
            return try await instance(service, from: source)
        }
    }

    /// The binding of the attempt: its factory resolves the service.
    private func binding<Service: Sendable>(asking question: Request, _ service: Service.Type) -> Binding {
        var blueprint = Blueprint(
            key: ServiceKey(Lazy<Service>.self, qualifier: question.key.qualifier), lifetime: .graph,
            factory: ServiceFactory<Service> { resolver, _ in
                let inner = Request(
                    key: question.key, pack: question.pack, host: resolver.host, asker: resolver.run,
                    graph: question.graph ?? ResolutionGraph(), heldBy: question.heldBy)
                return try await inner.resolve(service)
            })
        // In a graph, the owner of the `Lazy` requests the service.
        blueprint.change { $0.isHidden = true }
        return binding.withLock { [blueprint] binding in
            if let binding { return binding }
            let new = Binding(blueprint, defaultLifetime: .graph)
            binding = new
            return new
        }
    }
}

extension LazySource {
    /// Whether every request goes to one container, that of the factory whose dependency the `Lazy` is.
    fileprivate var isFixed: Bool { container == nil && origin != nil }

    /// The requester of the service; nil for the run that the `Lazy` came from, and without a container.
    fileprivate var requester: _Requester? {
        if let container { return .container(container) }
        return origin == nil ? Injection.container.map { .task(of: $0) } : nil
    }

    /// The request that resolves the service.
    fileprivate func question<Service>(_ service: Service.Type, from requester: _Requester?) throws -> Request {
        let key = ServiceKey(service, qualifier: qualifier, with: pack)
        let asker = ResolutionContext.activeRun
        if container == nil, let origin {
            // In a task of the run that it came from, it still belongs to that run.
            let asker = asker ?? origin.asker.flatMap { $0.isActive ? $0 : nil }
            return Request(
                key: key, pack: pack, host: origin.host, asker: asker, graph: origin.graph ?? origin.asker?.graph,
                heldBy: origin.holder)
        }
        guard let resolver = requester?.resolver else { throw Injection.noContainer(key) }
        return Request(
            key: key, pack: pack, host: resolver.host, asker: asker, graph: resolver.graph, heldBy: origin?.holder)
    }
}

extension Lazy: WrapperType {
    static var need: WrapperNeed { .later(Service.self, isHeld: true) }
    static func isAvailable(for request: Request) -> Bool { request.knows(Service.self) }

    static func ready(for request: Request) throws -> Any? { isAvailable(for: request) ? lazy(for: request) : nil }

    private static func lazy(for request: Request) -> Lazy {
        (request.graph ?? request.asker?.graph)?.keep()
        return Lazy(LazySource(qualifier: request.key.qualifier, pack: request.pack, origin: request))
    }
}
