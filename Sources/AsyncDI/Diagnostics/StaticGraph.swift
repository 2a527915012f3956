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

    /// By identity, because `entries` holds both.
    private struct Identity: Hashable {
        let binding: ObjectIdentifier
        let host: ObjectIdentifier
    }

    /// The container that all roots are requested from.
    private let asked: any ResolutionHost
    /// The first ones are the roots.
    private(set) var entries: [Entry] = []
    private var rootCount = 0
    /// Services that are missing, requested with other arguments, or registered wrongly.
    private(set) var problems: [ResolutionError] = []
    /// Registrations whose dependencies are unknown.
    private(set) var opaque: [Binding] = []
    /// Registrations with unknown dependencies, as a recording names them, and decorated services.
    private(set) var unknown: Set<RecordedService> = []
    /// The graph as a recording would have it.
    private(set) var records = Recorder.Records()
    /// The declared dependencies, registered or not.
    private(set) var declarations: [(from: RecordedService, to: RecordedService)] = []
    /// The declared deferred dependencies, which may be resolved with any arguments: the services have none here.
    private(set) var declaredForLater: [(from: RecordedService, to: RecordedService)] = []
    private var numbers: [Identity: Int] = [:]
    /// By identity, because `opaque` holds them.
    private var opaqueBindings: Set<ObjectIdentifier> = []
    /// By identity of containers, because `entries` holds them.
    private var nearMisses: [ObjectIdentifier: NearMisses] = [:]

    /// The graph of registrations that are requested from their own container, and of everything that they lead to.
    init(of bindings: [Binding], in host: any ResolutionHost) {
        self.init(of: bindings.map { (binding: $0, table: host.table) }, askedBy: host)
    }

    /// The graph of registrations, each in its container, requested from one container, and of everything that they
    /// lead to.
    init(of bindings: [(binding: Binding, table: InstanceTable)], askedBy host: any ResolutionHost) {
        asked = host
        for (binding, table) in bindings where !binding.blueprint.isHidden {
            _ = number(of: binding, in: table, askedBy: host)
        }
        rootCount = entries.count
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
            guard let (behind, place) = table.registration(of: forward.from), place === table else {
                problems.append(table.host.miss(forward.from, asker: nil).at([binding.step]))
                return nil
            }
            records.note(from: service, to: RecordedService(behind, in: place))
            return number(of: behind, in: place, askedBy: asked)
        }
        let host = binding.lifetime.sharing == .registeringContainer ? table.host : asked
        let identity = Identity(binding: ObjectIdentifier(binding), host: ObjectIdentifier(host))
        if let number = numbers[identity] { return number }
        let number = entries.count
        numbers[identity] = number
        entries.append(Entry(binding: binding, host: host, table: table, service: service))
        return number
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
        // deferred.
        let atOnce = blueprint.propertyHooks.isEmpty
        for key in blueprint.declaredDependencies ?? [] { lookUp(key, neededBy: number, atOnce: atOnce) }
        // A decoration is a closure that resolves in the name of the decorated service, and cannot declare its
        // dependencies.
        if blueprint.factory.isDecorated { unknown.insert(entry.service) }
        switch entry.binding.base {
        case .inherited(let inherited)?:
            if let (_, table) = entry.table.registration(beyondFor: inherited.key) {
                add(inherited, in: table, to: number)
            }
        case .forward?:
            if let key = blueprint.underlying { lookUp(key, neededBy: number) }
        case .instance?, nil:
            guard !blueprint.isKnown else { return }
            unknown.insert(entry.service)
            if opaqueBindings.insert(ObjectIdentifier(entry.binding)).inserted { opaque.append(entry.binding) }
        }
    }

    private mutating func lookUp(
        _ key: ServiceKey, neededBy number: Int, atOnce: Bool = true, isHeld: Bool = true, isOptional: Bool = false
    ) {
        let (host, asker) = (entries[number].host, entries[number].service)
        declarations.append((asker, RecordedService(key, owner: "")))
        if let (binding, table) = host.table.registration(of: key) {
            add(binding, in: table, to: number, atOnce: atOnce, isHeld: isHeld, isOptional: isOptional)
            return
        }
        switch (key.service as? any WrapperType.Type)?.need {
        case .nothing?:
            return
        case .optional(let service)?:
            lookUp(key.of(service), neededBy: number, atOnce: atOnce, isHeld: isHeld, isOptional: true)
        case .later(let service, let isHeld)?:
            lookUpLater(key.of(service), neededBy: number, isHeld: isHeld, isOptional: isOptional)
        case .contributions(let service, let isWanted)?:
            declarations.append((asker, RecordedService(groupOf: key.of(service))))
            let contributions = host.contributions(to: key.of(service)).filter { contribution in
                guard case .contribution(let id) = contribution.role else { return false }
                return isWanted(id)
            }
            if contributions.isEmpty, !isOptional { miss(key, neededBy: number) }
            for case let (binding, table)? in contributions.map(host.table.registration(of:)) {
                add(binding, in: table, to: number, atOnce: atOnce, isHeld: isHeld)
            }
        case nil:
            if isOptional, near(host)?.mismatch(key, asker: nil) == nil { return }
            miss(key, neededBy: number)
        }
    }

    /// A deferred dependency may be requested with arguments: any registration of the service will do.
    private mutating func lookUpLater(_ key: ServiceKey, neededBy number: Int, isHeld: Bool, isOptional: Bool) {
        let (host, asker) = (entries[number].host, entries[number].service)
        declaredForLater.append((asker, RecordedService(key.withoutArguments, owner: "")))
        let isThere = host.table.registration(of: key) != nil
        // The arguments in the wrapper's own key select the registration.
        var candidates = isThere && key.arguments != nil ? [] : near(host)?.otherArguments(of: key) ?? []
        if isThere || candidates.isEmpty { candidates.insert(key, at: 0) }
        // Which of several registrations will be held is unknown.
        let isOne = Set(candidates).count == 1
        var seen: Set<ServiceKey> = []
        for candidate in candidates where seen.insert(candidate).inserted {
            lookUp(candidate, neededBy: number, atOnce: false, isHeld: isHeld && isOne, isOptional: isOptional)
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
        let service = RecordedService(binding, in: table)
        guard case .contribution = binding.key.role else {
            records.note(from: asker, to: service, isDeferred: !atOnce)
            return
        }
        let group = RecordedService(groupOf: binding.key)
        records.note(group, of: nil)
        records.note(from: asker, to: group, isDeferred: !atOnce)
        records.note(from: group, to: service)
    }

    private mutating func miss(_ key: ServiceKey, neededBy number: Int) {
        let entry = entries[number]
        let key = key.unwrapped(key.service)
        let problem = near(entry.host)?.miss(key, asker: nil) ?? entry.host.miss(key, asker: nil)
        problems.append(problem.at([entry.binding.step, PathStep(key: key, binding: nil, pack: .none)]))
    }
}

extension StaticGraph {
    /// Values that each scope must supply, and that a service needs in a scope that does not: a value that a scope
    /// registers as expected counts as supplied.
    var valuesNotSupplied: [ResolutionError] {
        reachedHere.flatMap { asker in
            edgesHere(of: asker).filter { !$0.isOptional }.map { entries[$0.to] }.filter(\.isLeftToScopes).map {
                value in
                ResolutionError(
                    .notRegistered,
                    "\(value.binding.key) is expected to be supplied by each scope, and \(asker.host.displayName) does not.",
                    advice: "Register it when the scope is opened, or resolve \(asker.binding.key) elsewhere.",
                    steps: [asker.binding.step, value.binding.step])
            }
        }
    }

    /// The dependencies of a registration without those that other scopes may resolve: the `Provider` of an instance
    /// that lives above the scope is called in those, too.
    private func edgesHere(of entry: Entry) -> [GraphValidator<AnyObject>.Edge] {
        entry.edges.filter { $0.isHeld || entry.host === asked }
    }

    /// The registrations that resolving the roots leads to in the scope.
    private var reachedHere: [Entry] {
        var isReached = entries.indices.map { $0 < rootCount }
        var frontier = Array(0..<rootCount)
        while let number = frontier.popLast() {
            for edge in edgesHere(of: entries[number]) where !isReached[edge.to] {
                isReached[edge.to] = true
                frontier.append(edge.to)
            }
        }
        return zip(entries, isReached).compactMap { $1 ? $0 : nil }
    }

    /// Values that each scope must supply, needed by an instance that a container above the scopes creates and keeps.
    ///
    /// - Parameter known: The pairs of a holder and a captive, which are reported as such.
    /// - Returns: Each value as the path to it from that instance.
    private func valuesOutOfReach(besides known: Set<[Int]>) -> [[Int]] {
        entries.indices.filter { entries[$0].isKeptAboveScopes }.flatMap { holder in
            var paths: [[Int]] = []
            var seen: Set<Int> = [holder]
            var frontier = [[holder]]
            while let path = frontier.popLast() {
                for edge in entries[path[path.count - 1]].edges where edge.isHeld && edge.isNeededAtOnce {
                    guard !known.contains([holder, edge.to]), seen.insert(edge.to).inserted else { continue }
                    let entry = entries[edge.to]
                    if entry.isLeftToScopes {
                        paths.append(path + [edge.to])
                    } else if entry.binding.lifetime.sharing != .registeringContainer,
                        entry.host === entries[holder].host
                    {
                        // Created with the holder, in its container.
                        frontier.append(path + [edge.to])
                    }
                }
            }
            return paths
        }
    }

    /// All problems, each once: first missing services, then cycles, then captives.
    var allProblems: [ResolutionError] {
        let nodes = entries.map { entry in
            let hasArguments = entry.binding.key.arguments != nil
            return GraphValidator<AnyObject>.Node(
                sharing: entry.sharing, hasArguments: hasArguments,
                // An initializer's parameters are all resolved.
                choosesByArguments: hasArguments && entry.binding.blueprint.dependencies == nil
                    && entry.binding.base == nil, edges: entry.edges)
        }
        let rule = CaptiveRule<AnyObject>(parent: { ($0 as? any ResolutionHost)?.parentHost })
        let validator = GraphValidator(nodes: nodes, rule: rule)
        let cycles = validator.cycles.map { cycle in
            ResolutionError.circular((cycle + [cycle[0]]).map { entries[$0].binding.step })
        }
        let captivePaths = validator.captives
        let captives = captivePaths.map { path in
            let (holder, captive) = (entries[path[0]], entries[path[path.count - 1]])
            return ResolutionError.captive(
                holder.binding, in: holder.host, holding: captive.binding.key, of: captive.host,
                resetWith: captive.isReset(under: holder) ? captive.binding.lifetime : nil,
                steps: path.map { entries[$0].binding.step })
        }
        let known = Set(captivePaths.map { [$0[0], $0[$0.count - 1]] })
        let outOfReach = valuesOutOfReach(besides: known).map { path in
            let (holder, value) = (entries[path[0]], entries[path[path.count - 1]])
            return ResolutionError(
                .notRegistered,
                "\(value.binding.key) is expected to be supplied by each scope, but \(holder.binding.key) is "
                    + "\(holder.binding.lifetime) and created in \(holder.host.displayName).",
                advice: "Register \(holder.binding.key) as .scoped, give it a Provider<"
                    + "\(readableName(of: value.binding.key.service))> to call at each use, or pass the value as an "
                    + "argument of the call.",
                steps: path.map { entries[$0].binding.step })
        }
        var seen: Set<String> = []
        return (problems + cycles + captives + outOfReach).filter { seen.insert($0.description).inserted }
    }
}

extension StaticGraph.Entry {
    fileprivate var sharing: GraphValidator<AnyObject>.Sharing {
        if binding.blueprint.isExpected { return .place(host, isScoped: true, outlivesScopes: false) }
        switch binding.lifetime.sharing {
        case .none, .graph: return .asker
        case .resolvingContainer, .registeringContainer:
            return .place(
                host, isScoped: binding.lifetime.sharing == .resolvingContainer,
                outlivesScopes: binding.lifetime.outlivesScopes,
                isResettable: binding.lifetime.isResettable)
        }
    }

    /// Whether it stands for a value that each scope must supply.
    fileprivate var isLeftToScopes: Bool { binding.blueprint.isExpected && isIn(table.host, aScope: false) }

    /// Whether a container that is no scope creates and keeps its instances.
    fileprivate var isKeptAboveScopes: Bool {
        binding.lifetime.sharing == .registeringContainer && !binding.blueprint.isExpected
            && binding.blueprint.instance == nil && isIn(host, aScope: false)
    }

    private func isIn(_ host: any ResolutionHost, aScope: Bool) -> Bool {
        (host as? ContainerCore)?.isScope == aScope
    }

    /// Whether the holder would keep an instance that has been reset.
    fileprivate func isReset(under holder: StaticGraph.Entry) -> Bool {
        binding.lifetime.isResettable && holder.binding.lifetime.outlivesScopes
    }
}

extension Binding {
    fileprivate var step: PathStep { PathStep(key: key, binding: self, pack: .none) }
}

extension Blueprint {
    /// Whether all dependencies of the factory are known.
    fileprivate var isKnown: Bool {
        dependencies != nil || declaredDependencies != nil || instance != nil || isExpected
    }
}

extension ServiceKey {
    /// The same question about another service.
    fileprivate func of(_ service: any Any.Type) -> ServiceKey {
        ServiceKey(service, qualifier: qualifier, arguments: arguments, role: role)
    }
}
