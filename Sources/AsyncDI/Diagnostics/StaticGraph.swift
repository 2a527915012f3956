/// The declared dependencies of a container's registrations, looked up as by a resolution, without running a factory.
struct StaticGraph {
    /// A registration as one container sees it: its dependencies are looked up from there.
    struct Entry {
        let binding: Binding
        /// The container that its factory's resolver searches.
        let host: any ResolutionHost
        /// The container that holds the registration.
        let table: InstanceTable
        /// The registration as a recorded graph names it.
        let service: RecordedService
        var edges: [GraphValidator<AnyObject>.Edge] = []
    }

    /// A registration that is requested itself.
    struct Root {
        let binding: Binding
        let table: InstanceTable
        /// Whether the request can do without the instance.
        var isOptional = false
        /// Whether the instance is requested later, by a provider.
        var isForLater = false
    }

    /// The container that all roots are requested from.
    let asked: any ResolutionHost
    private(set) var entries: [Entry] = []
    /// The numbers of the roots that are resolved in that container.
    private(set) var roots: [(number: Int, isOptional: Bool)] = []
    /// Services that are missing, requested with other arguments, or registered wrongly.
    private(set) var problems: [ResolutionError] = []
    /// Registrations whose dependencies are unknown.
    private(set) var opaque: [Binding] = []
    /// Registrations with unknown dependencies, as a recording names them, and decorated services.
    private(set) var unknown: Set<RecordedService> = []
    /// Registrations whose hooks may resolve more than the initializer's parameters.
    private var hooked: Set<RecordedService> = []
    /// Registrations that may resolve more than they declare.
    var incomplete: Set<RecordedService> { unknown.union(hooked) }
    /// The graph as a recording would have it.
    private(set) var records = Recorder.Records()
    /// The declared dependencies, registered or not.
    private(set) var declarations: [(from: RecordedService, to: RecordedService)] = []
    /// The declared deferred dependencies, which may be resolved with any arguments: the services have none here.
    private(set) var declaredForLater: [(from: RecordedService, to: RecordedService)] = []
    /// By the identities of binding and host, because `entries` holds both.
    private var numbers: [[ObjectIdentifier]: Int] = [:]
    /// By identity, because `opaque` holds them.
    private var opaqueBindings: Set<ObjectIdentifier> = []
    /// By identity of containers, because `entries` holds them.
    private var nearMisses: [ObjectIdentifier: NearMisses] = [:]

    /// The graph of registrations, each in its container, requested from one container, and of everything that they
    /// lead to.
    init(of roots: [Root], askedBy host: any ResolutionHost) {
        asked = host
        for root in roots where !root.binding.blueprint.isHidden {
            let number = number(of: root.binding, in: root.table, askedBy: host)
            // Above the scopes, a provider is called in one of them.
            guard let number, !root.isForLater || host.isScope else { continue }
            self.roots.append((number, root.isOptional))
        }
        var next = 0
        while next < entries.count {
            lookUpDependencies(of: next)
            next += 1
        }
    }

    /// The number of a registration, or of the target of its forwarding; nil when the target is missing.
    private mutating func number(
        of binding: Binding, in table: InstanceTable, askedBy asked: any ResolutionHost
    ) -> Int? {
        let service = RecordedService(binding, in: table)
        records.note(service, of: binding)
        if let forward = binding.blueprint.target {
            guard let (behind, place) = target(of: forward, in: table, askedBy: asked) else {
                problems.append(table.host.miss(forward.from, asker: nil).at([binding.step]))
                return nil
            }
            // Registered to implement itself, which is the problem of the registration.
            if behind === binding { return nil }
            records.note(from: service, to: RecordedService(behind, in: place))
            return number(of: behind, in: place, askedBy: asked)
        }
        let host = binding.lifetime.sharing == .registeringContainer ? table.host : asked
        let identity = [ObjectIdentifier(binding), ObjectIdentifier(host)]
        if let number = numbers[identity] { return number }
        let number = entries.count
        numbers[identity] = number
        entries.append(Entry(binding: binding, host: host, table: table, service: service))
        return number
    }

    /// The registration behind a forwarded type, in the container that forwards; of a value that scopes supply, the
    /// nearest one.
    private func target(
        of forward: Forward, in table: InstanceTable, askedBy asked: any ResolutionHost
    ) -> (binding: Binding, table: InstanceTable)? {
        guard let found = table.registration(of: forward.from), found.table === table else { return nil }
        return found.binding.blueprint.isExpected ? asked.table.registration(of: forward.from) ?? found : found
    }

    // MARK: Dependencies

    private mutating func lookUpDependencies(of number: Int) {
        let entry = entries[number]
        let blueprint = entry.binding.blueprint
        if let problem = entry.binding.problem {
            problems.append(problem)
            return
        }
        for key in blueprint.dependencies ?? [] { lookUp(key, neededBy: number) }
        // A hook may resolve the dependencies of a closure, where a cycle of properties is legal: these count as
        // deferred. A transient service has no instance that the cycle could come back to.
        let atOnce = blueprint.propertyHooks.isEmpty || entry.binding.lifetime.sharing == .none
        for key in blueprint.declaredDependencies ?? [] { lookUp(key, neededBy: number, atOnce: atOnce) }
        // A decoration is a closure that resolves in the name of the decorated service, and cannot declare its
        // dependencies.
        if blueprint.factory.isDecorated { unknown.insert(entry.service) }
        switch entry.binding.base {
        case .inherited(let inherited)?:
            if let (_, table) = entry.table.registration(beyondFor: inherited.key) {
                add(inherited, in: table, to: number)
            }
        case .forward(let alias)?:
            guard let forward = alias.blueprint.target else { return }
            if let (behind, place) = target(of: forward, in: entry.table, askedBy: entry.host) {
                add(behind, in: place, to: number)
            } else {
                miss(forward.from, neededBy: number)
            }
        case .instance?, nil:
            if blueprint.isKnown {
                if blueprint.hooksMayResolve { hooked.insert(entry.service) }
                return
            }
            unknown.insert(entry.service)
            if opaqueBindings.insert(ObjectIdentifier(entry.binding)).inserted { opaque.append(entry.binding) }
        }
    }

    /// The part of a dependency that may be missing.
    private enum Optionality {
        /// None: the registration and a value are needed.
        case nothing
        /// The registration, without which there is no wrapper, such as a `Lazy`: its call needs a value.
        case wrapper
        /// The registration, or a value.
        case instance
    }

    private mutating func lookUp(
        _ key: ServiceKey, neededBy number: Int, atOnce: Bool = true, isHeld: Bool = true,
        optional optionality: Optionality = .nothing
    ) {
        let (host, asker) = (entries[number].host, entries[number].service)
        declarations.append((asker, RecordedService(key, owner: "")))
        if let (binding, table) = host.table.registration(of: key) {
            add(binding, in: table, to: number, atOnce: atOnce, isHeld: isHeld, isOptional: optionality == .instance)
            return
        }
        switch (key.service as? any WrapperType.Type)?.need {
        case .nothing?:
            return
        case .optional(let service)?:
            lookUp(key.of(service), neededBy: number, atOnce: atOnce, isHeld: isHeld, optional: .instance)
        case .later(let service, let holdsIt)?:
            lookUpLater(
                key.of(service), neededBy: number, isHeld: isHeld && holdsIt,
                optional: optionality == .nothing ? .nothing : .wrapper)
        case .contributions(let service, let keyType)?:
            declarations.append((asker, RecordedService(groupOf: key.of(service))))
            let contributions = host.contributions(to: key.of(service)).filter {
                $0.contribution(keyedBy: keyType) != nil
            }
            if contributions.isEmpty, optionality == .nothing { miss(key, neededBy: number) }
            for case let (binding, table)? in contributions.map(host.table.registration(of:)) {
                add(binding, in: table, to: number, atOnce: atOnce, isHeld: isHeld)
            }
        case nil:
            if optionality != .nothing, near(host)?.mismatch(key, asker: nil) == nil { return }
            miss(key, neededBy: number)
        }
    }

    /// A deferred dependency may be requested with arguments: any registration of the service will do.
    private mutating func lookUpLater(
        _ key: ServiceKey, neededBy number: Int, isHeld: Bool, optional optionality: Optionality
    ) {
        let (host, asker) = (entries[number].host, entries[number].service)
        let isThere = host.table.registration(of: key) != nil
        // The arguments in the wrapper's own key select the registration.
        var candidates = isThere && key.arguments != nil ? [] : near(host)?.otherArguments(of: key) ?? []
        if !isThere, candidates.isEmpty, case .optional(let service)? = (key.service as? any WrapperType.Type)?.need {
            return lookUpLater(key.of(service), neededBy: number, isHeld: isHeld, optional: .instance)
        }
        declaredForLater.append((asker, RecordedService(key.withoutArguments, owner: "")))
        if isThere || candidates.isEmpty { candidates.insert(key, at: 0) }
        // Which of several registrations will be held is unknown.
        let isOne = Set(candidates).count == 1
        var seen: Set<ServiceKey> = []
        for candidate in candidates where seen.insert(candidate).inserted {
            lookUp(candidate, neededBy: number, atOnce: false, isHeld: isHeld && isOne, optional: optionality)
        }
    }

    /// The similar registrations of a container, looked up once for the whole graph.
    private mutating func near(_ host: any ResolutionHost) -> NearMisses? {
        if let known = nearMisses[ObjectIdentifier(host)] { return known }
        nearMisses[ObjectIdentifier(host)] = (host as? ContainerCore).map { NearMisses(in: $0) }
        return nearMisses[ObjectIdentifier(host)]
    }

    private mutating func add(
        _ binding: Binding, in table: InstanceTable, to number: Int, atOnce: Bool = true, isHeld: Bool = true,
        isOptional: Bool = false
    ) {
        let asker = entries[number].service
        guard let target = self.number(of: binding, in: table, askedBy: entries[number].host) else { return }
        entries[number].edges.append(.init(to: target, isNeededAtOnce: atOnce, isHeld: isHeld, isOptional: isOptional))
        records.noteRequest(from: asker, for: RecordedService(binding, in: table), isDeferred: !atOnce)
    }

    private mutating func miss(_ key: ServiceKey, neededBy number: Int) {
        let entry = entries[number]
        let key = key.unwrapped(key.service)
        let problem = near(entry.host)?.miss(key, asker: nil) ?? entry.host.miss(key, asker: nil)
        problems.append(problem.at([entry.binding.step, PathStep(key: key)]))
    }
}

extension Binding {
    var step: PathStep { PathStep(key: key, binding: self) }
}

extension Blueprint {
    /// Whether all dependencies of the factory are known.
    fileprivate var isKnown: Bool {
        if declaredDependencies != nil || instance != nil || isExpected || factory.resolvesNothing { return true }
        // With a resolver, an initializer may resolve more than its parameters.
        return dependencies.map { !$0.contains { $0.service == Resolver.self } } ?? false
    }

    /// Whether hooks, which receive a resolver, may resolve what the registration does not declare.
    fileprivate var hooksMayResolve: Bool {
        declaredDependencies == nil && !(propertyHooks.isEmpty && creationHooks.isEmpty)
    }
}
