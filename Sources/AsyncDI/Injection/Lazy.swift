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
/// shorter-lived scope fails with ``ResolutionError/Code/captiveDependency``. So the factories of different long-lived
/// services that call it at once resolve it for each of them; a transient or graph service is then created for each,
/// and the first instance is kept.
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
            self.init(LazySource(qualifier: qualifier, given: Injection.requester(from: container)))
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
        if let instance = try box.instanceHere() { return instance }
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
    public func use(_ container: Container) { box.change { $0.given = .container(container) } }

    /// Uses another qualifier from now on, and forgets the previous instance.
    ///
    /// - Parameter qualifier: The qualifier that the service was registered with; nil for none.
    public func use(qualifier: (any Qualifier)?) { box.change { $0.qualifier = qualifier } }
}

/// The service of a ``Lazy``, and the container that resolves it.
struct LazySource: Sendable {
    var qualifier: (any Qualifier)?
    var pack = ArgumentPack.none
    /// The requester that it was created for; when nil, `origin`, or else the requester at the time of the call.
    var given: _Requester?
    /// The request that returned the `Lazy`, if one did.
    var origin: Request?
}

/// A creation for a task that had outlived scopes needed nothing of them, where one container answered.
private struct LateProof: Equatable {
    /// The innermost of the scopes.
    private let scope: UInt64
    private let container: UInt64

    /// Nil for a request of any other task.
    init?(_ question: Request, asking host: any ResolutionHost) {
        guard let scope = question.outlivedScope else { return nil }
        self.scope = scope
        container = host.number
    }
}

/// The state that the copies of a ``Lazy`` share.
private final class LazyBox<Service: Sendable>: InstanceMemo {
    private struct State {
        var source: LazySource
        /// The instances, by the numbers of the containers that they were requested from: several for scopes of one
        /// container.
        ///
        /// The first one of a container is kept for every caller but those whose products must not hold it, which have
        /// others.
        var found: [UInt64: [LazyFound<Service>]] = [:]
        /// The containers that tell this object of their ends.
        var announced: [UInt64: any ResolutionHost] = [:]
        /// The attempts that are under way, by the registrations whose products would hold the instance.
        ///
        /// Attempts for one registration share a place, and so happen one at a time. Those for others may be refused
        /// because of the holder, and so have a place of their own.
        var attempts: [ObjectIdentifier?: (attempt: LazyAttempt, callers: Int)] = [:]
        /// The last few proofs that late tasks may have a kept instance.
        var proofs: [LateProof] = []
        /// The number of changes of the source.
        var changes = 0

        mutating func note(_ proof: LateProof) {
            if proofs.contains(proof) { return }
            if proofs.count >= 8 { proofs.removeFirst() }
            proofs.append(proof)
        }
    }

    private let state: Locked<State>

    init(_ source: LazySource) { state = Locked(State(source: source)) }

    deinit {
        for host in state.withLock({ $0.announced }).values { host.forgetMemo(ObjectIdentifier(self)) }
    }

    var isEmpty: Bool { state.withLock { $0.found.isEmpty } }

    /// The instance, if a request made here would go to the same container.
    ///
    /// - Throws: The errors of rules about the caller: the captive rule, and that of outlived scopes.
    func instanceHere() throws -> Service? {
        let (source, found, proofs) = state.withLock { ($0.source, $0.found, $0.proofs) }
        if found.isEmpty { return nil }
        if source.isFixed {
            guard let known = found.values.first else { return nil }
            if ResolutionContext.activeRun == nil { return known.first?.instance }
            return try source.instance(among: known, for: source.question(Service.self, from: nil)) { true }
        }
        guard let requester = source.requester else { return nil }
        let question = try source.question(Service.self, from: requester)
        guard let known = found[question.host.number] else { return nil }
        return try source.instance(among: known, for: question) {
            LateProof(question, asking: question.host).map(proofs.contains) ?? false
        }
    }

    /// Changes the source, and forgets the instance.
    func change(_ change: (inout LazySource) -> Void) {
        let dropped = state.withLock { state in
            let dropped = (state.source, state.found, state.attempts)
            change(&state.source)
            state.found = [:]
            state.attempts = [:]
            state.proofs = []
            state.changes += 1
            return dropped
        }
        // The deinitializers of instances, arguments and containers are user code: not under the lock.
        withExtendedLifetime(dropped) {}
    }

    nonisolated(nonsending) func resolve() async throws -> Service {
        let (source, changes) = state.withLock { ($0.source, $0.changes) }
        let question = try source.question(Service.self, from: source.requester)
        let holder = question.holder?.binding
        guard let attempt = begin(for: holder, unlessChangedSince: changes) else { return try await resolve() }
        // Held until the instance is kept here. A caller that finds the graph released, and with it the instance,
        // therefore finds the instance here.
        attempt.graph.enter()
        defer {
            attempt.graph.leave()
            end(attempt, for: holder)
        }
        if let known = try instanceHere(), state.withLock({ $0.changes == changes }) { return known }
        let found = try await attempt.instance(Service.self, from: source)
        if let proof = LateProof(question, asking: found.host) {
            state.withLock { if $0.changes == changes { $0.note(proof) } }
        }
        let mayBeOwn = question.isOfUnsharedService
        let number = found.host.number
        while true {
            // Outside the lock: the holder of a kept instance is read, and this may be the last reference to it.
            let known = state.withLock { $0.found[number] ?? [] }
            if let kept = mayBeOwn ? known.instance(for: question.holder) : known.first?.instance {
                // Of two that were resolved in one container, the first one stays.
                return state.withLock { $0.changes == changes } ? kept : found.instance
            }
            let isNew: Bool? = state.withLock { state in
                // Changed meanwhile: this caller gets its result, but the result is not kept.
                guard state.changes == changes else { return false }
                guard state.found[number, default: []].count == known.count else { return nil }
                state.found[number, default: []].append(found)
                // The instance of a fixed source lives as long as the owner of the `Lazy`.
                if source.isFixed || state.announced[number] != nil { return false }
                state.announced[number] = found.host
                return true
            }
            guard let isNew else { continue }
            if isNew, !found.host.remember(self) { containerHasEnded(number) }
            return found.instance
        }
    }

    /// Joins the attempt of callers with the same holder, or begins one; nil after a change of the source.
    private func begin(for holder: Binding?, unlessChangedSince changes: Int) -> LazyAttempt? {
        state.withLock { state in
            guard state.changes == changes else { return nil }
            let id = holder.map { ObjectIdentifier($0) }
            let (attempt, callers) = state.attempts[id] ?? (LazyAttempt(), 0)
            state.attempts[id] = (attempt, callers + 1)
            return attempt
        }
    }

    /// Leaves an attempt, which ends with its last caller.
    private func end(_ attempt: LazyAttempt, for holder: Binding?) {
        state.withLock { state in
            let id = holder.map { ObjectIdentifier($0) }
            // Not one that was begun after a change of the source.
            guard let known = state.attempts[id], known.attempt.graph === attempt.graph else { return }
            state.attempts[id] = known.callers == 1 ? nil : (attempt, known.callers - 1)
        }
        withExtendedLifetime(holder) {}
    }

    func containerHasEnded(_ number: UInt64) {
        let dropped = state.withLock { state in
            (state.found.removeValue(forKey: number), state.announced.removeValue(forKey: number))
        }
        // The deinitializer of the instance is user code: not under the lock.
        withExtendedLifetime(dropped) {}
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
