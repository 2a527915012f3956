/// The maker of a request: what ``_Resolving`` types pass to the look-up.
///
/// One value for all of them, so that their methods exist once.
public enum _Requester: Sendable {
    /// Code that has a container.
    ///
    /// Inside `withScope`, an outer container stands for the innermost scope below it. Inside a factory, a request goes
    /// to exactly the container that it names, so that an override can resolve the original from the outer container.
    case container(Container)
    /// Code without a container at hand: that of its task, or the one in which an object was created.
    ///
    /// If it ends, the next open container around it answers instead, except for the ended container's services. Inside
    /// a factory, exactly this container answers, as one that the factory names.
    case task(of: Container)
    /// Code that has a resolver: a factory, a hook, or the body of `withGraph`.
    case factory(Resolver)
    /// An object that keeps a resolver: a part of its factory until that ends, then code that has the container.
    case keeper(of: Resolver)
}

/// Requests that take every rule into account.
extension _Requester {
    /// The resolver of this requester's requests, as of now.
    var resolver: Resolver {
        switch self {
        case .container(let container): container.resolver
        case .task(let container): container.core.openAround == nil ? container.resolver : container.core.openResolver
        case .factory(let resolver): resolver
        case .keeper(of: let resolver): resolver.asker == nil ? resolver.core?.resolver ?? resolver : resolver
        }
    }

    /// Whether a request failed only because the current scope that it went to has ended meanwhile.
    ///
    /// It is then repeated, as a request after that end.
    ///
    /// - Parameters:
    ///   - error: The error of the request.
    ///   - host: The container that received the request.
    ///   - depth: The length of the request's path.
    /// - Returns: Whether it must be repeated; false when the error has another reason.
    func isOvertaken(_ error: any Error, asking host: any ResolutionHost, depth: Int = 1) -> Bool {
        switch self {
        case .container(let container):
            container.core.isOvertaken(error, asking: host, depth: depth)
        case .task(let container):
            container.core.isOvertaken(error, asking: host, depth: depth)
                // By its own end, if there is an open container around it.
                || container.core.openAround?.isOvertaken(error, asking: host, depth: depth) == true
        case .factory:
            false
        case .keeper(of: let kept):
            kept.asker == nil && kept.core?.isOvertaken(error, asking: host, depth: depth) == true
        }
    }

    /// Carries a request out; again whenever it failed only because the current scope has ended meanwhile.
    @inline(__always)
    nonisolated(nonsending) func carryOut<R>(
        _ key: ServiceKey, _ pack: ArgumentPack = .none,
        _ action: nonisolated(nonsending) (Request) async throws -> sending R
    ) async throws -> sending R {
        while true {
            let request = resolver(for: key).request(key, pack)
            do {
                return try await action(request)
            } catch {
                guard isOvertaken(error, asking: request.host) else { throw error }
            }
        }
    }

    /// Carries a synchronous request out, in the same way.
    func carryOut<R>(_ key: ServiceKey, _ action: (Request) throws -> R) throws -> R {
        while true {
            let request = resolver(for: key).request(key, .none)
            do {
                return try action(request)
            } catch {
                guard isOvertaken(error, asking: request.host) else { throw error }
            }
        }
    }

    /// The instance of a service, if the look-up has not found it.
    @usableFromInline
    nonisolated(nonsending) func resolveUnready<Service: Sendable>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?
    ) async throws -> Service {
        try await carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.resolve(service)
        }
    }

    /// The instance of a service with arguments, if the look-up has not found it.
    @usableFromInline
    nonisolated(nonsending) func resolveUnready<Service: Sendable>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?, with pack: ArgumentPack
    ) async throws -> Service {
        try await carryOut(ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack)), pack) { request in
            try await request.resolveUnready(service)
        }
    }

    /// The run of a request with a qualifier that is no more than a call of a transient service's factory.
    ///
    /// - Parameters:
    ///   - probe: The service and the hash of its qualifier.
    ///   - isSame: Whether the qualifier in these details, of the probe's type, is the requested one.
    /// - Returns: The run; nil for any other request.
    @usableFromInline
    func beginPlainRun(_ probe: QualifierProbe, isSame: (KeyDetails) -> Bool) -> Run? {
        let find = { (table: InstanceTable) -> Binding? in
            guard let binding = table.plainTransient(probe), let details = binding.key.details, isSame(details) else {
                return nil
            }
            return binding
        }
        return switch self {
        case .container(let container), .task(let container): container.beginPlainRun(find)
        case .factory(let resolver): resolver.runOfThisTask?.beginPlainRun(find)
        case .keeper: nil
        }
    }

    /// The existing instance of a service.
    @usableFromInline
    func ready<Service: Sendable>(_ service: Service.Type, _ qualifier: (any Qualifier)?) throws -> Service {
        try carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in try request.ready(service) }
    }

    /// Runs a body in which the injection points use the container that a request here would go to.
    ///
    /// Inside a factory, and for a resolver, they use the container that they would use without this call.
    func whileCurrent<R>(_ body: () throws -> R) throws -> R {
        guard case .container(let container) = self, ResolutionContext.activeRun == nil else { return try body() }
        let asked = container.core.asked
        guard asked !== Container.current?.core,
            let current = asked === container.core ? container : asked.handle()
        else { return try body() }
        return try current.whileCurrent(body)
    }

    /// The instance of a service for which the look-up has made this decision, or none.
    @usableFromInline
    nonisolated(nonsending) func resolveOther<Service: Sendable>(
        _ service: Service.Type, _ request: DecidedRequest?
    ) async throws -> Service {
        guard let request else { return try await resolveUnready(service, nil) }
        do {
            return try await request.value(as: service)
        } catch {
            guard isOvertaken(error, asking: request.host) else { throw error }
            return try await resolveUnready(service, nil)
        }
    }
}

/// The look-up; the requests of an object that keeps a resolver are general ones, which take every rule into account.
///
/// Inlined, so that the caller of a container's method calls that container's look-up.
extension _Requester {
    /// The answer to a request for an unqualified service without arguments.
    @inlinable
    func find(_ service: any Any.Type, onActor isOnActor: Bool) throws -> Answer {
        switch self {
        case .container(let container), .task(let container): container.find(service, onActor: isOnActor)
        case .factory(let resolver): try resolver.find(service, onActor: isOnActor)
        case .keeper: .other(nil)
        }
    }

    /// The answer to a request for an unqualified service with arguments; nil where it takes every rule into account.
    @inlinable
    func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> ArgumentsAnswer? {
        switch self {
        case .container(let container), .task(let container):
            container.find(service, arguments, hash: hash, pack: pack)
        case .factory(let resolver):
            resolver.find(service, arguments, hash: hash, pack: pack)
        case .keeper:
            nil
        }
    }

    /// Whether requests with these arguments find instances by their hash: others must not pay for it.
    @inlinable
    func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        switch self {
        case .container(let container), .task(let container): container.isIndexed(service, arguments)
        case .factory(let resolver): resolver.isIndexed(service, arguments)
        case .keeper: false
        }
    }

    /// The published instance of a service, where no rule about its holder applies, and nothing is recorded.
    @inlinable
    func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        switch self {
        case .container(let container), .task(let container): container.beginHit(service)
        case .factory(let resolver): resolver.beginHit(service)
        case .keeper: nil
        }
    }

    /// The published instance of a service with a qualifier, perhaps a different one of the same type and hash.
    @inlinable
    func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        switch self {
        case .container(let container), .task(let container): container.beginHit(probe)
        case .factory(let resolver): resolver.beginHit(probe)
        case .keeper: nil
        }
    }
}

/// Providers and other objects that keep a resolver, in factories and hooks of the scopes below its container.
extension _Requester {
    /// The resolver of this requester's request for a service.
    fileprivate func resolver(for key: ServiceKey) -> Resolver {
        guard case .keeper(of: let kept) = self else { return resolver }
        return kept.inScopeOfRun(for: key) ?? resolver
    }
}

extension Resolver {
    /// The resolver of the scope whose factory or hook the current task runs; nil where the kept resolver's own
    /// container is asked.
    ///
    /// A body in the scope asks the scope. Here, the container above would create an instance of a scoped service and
    /// keep it, for every request.
    fileprivate func inScopeOfRun(for key: ServiceKey) -> Resolver? {
        guard let core, run?.isActive != true, let active = ResolutionContext.activeRun,
            !active.host.table.isClosed, active.host.isInScope(below: core),
            // The container above has the only instance.
            core.table.registration(of: key)?.binding.lifetime.sharing != .registeringContainer,
            // An override or decoration in the scope receives the original.
            !active.isInsideCreation(of: key)
        else { return nil }
        return Resolver(host: active.host, run: nil)
    }
}

extension ResolutionHost {
    /// Whether a scope below `top` is this container, or is around it.
    fileprivate func isInScope(below top: any ResolutionHost) -> Bool {
        var isFound = false
        var next: (any ResolutionHost)? = self
        while let host = next, host !== top {
            isFound = isFound || host.isScope
            next = host.parentHost
        }
        return isFound && next != nil
    }
}

extension Run {
    /// Whether this run, or one that waits for it, creates an instance of a service for the same container.
    fileprivate func isInsideCreation(of key: ServiceKey) -> Bool {
        var next: Run? = self
        while let inner = next {
            if sequence(first: inner, next: \.parent).contains(where: { $0.host === host && $0.binding.key == key }) {
                return true
            }
            next = inner.root.creation?.asker
        }
        return false
    }
}
