/// The problems of a graph whose dependencies were looked up.
extension StaticGraph {
    typealias Edge = GraphValidator<AnyObject>.Edge

    /// All problems, some of them twice: first missing services, then cycles, then captives.
    var allProblems: [ResolutionError] {
        let rule = CaptiveRule<AnyObject>(parent: { ($0 as? any ResolutionHost)?.parentHost })
        let validator = GraphValidator(nodes: entries.map(node), rule: rule)
        let cycles = validator.cycles.map { cycle in
            ResolutionError.circular((cycle + [cycle[0]]).map { entries[$0].binding.step })
        }
        let captives = validator.captives.flatMap { errors(for: $0, captive) }
        let outOfReach = valuesOutOfReach(validator).flatMap { errors(for: $0, valueOutOfReach) }
        return problems + cycles + captives + outOfReach
    }

    private func node(_ entry: Entry) -> GraphValidator<AnyObject>.Node {
        let hasArguments = entry.binding.key.arguments != nil
        return GraphValidator<AnyObject>.Node(
            sharing: entry.sharing, hasArguments: hasArguments,
            // An initializer's parameters are all resolved.
            choosesByArguments: hasArguments && entry.binding.blueprint.dependencies == nil
                && entry.binding.base == nil,
            // The rule for captives is about those that outlive the scopes.
            edges: entry.edges.filter { !entry.maySkip($0, to: entries[$0.to], outlivingScopes: true) })
    }

    /// The error of each path; the last one counts those that are left out.
    private func errors(
        for found: BreadthFirstSearch.Paths, _ error: ([Entry]) -> ResolutionError
    ) -> [ResolutionError] {
        var errors = found.paths.map { path in error(path.map { entries[$0] }) }
        if found.omitted > 0, let last = errors.popLast() {
            let services = counted(found.omitted, "more service")
            errors.append(
                ResolutionError(
                    last.code, last.message + " The same holds for \(services).", advice: last.advice,
                    steps: last.steps))
        }
        return errors
    }

    private func captive(_ path: [Entry]) -> ResolutionError {
        let (holder, captive) = (path[0], path[path.count - 1])
        // Nothing creates the value: a scope supplies it.
        if captive.isLeftToScopes { return valueOutOfReach(path) }
        return ResolutionError.captive(
            holder.binding, in: holder.host, holding: captive.binding.key, of: captive.host,
            resetWith: captive.isReset(under: holder) ? captive.binding.lifetime : nil,
            steps: path.map(\.binding.step))
    }

    private func valueOutOfReach(_ path: [Entry]) -> ResolutionError {
        let (holder, value) = (path[0], path[path.count - 1])
        return .unsupplied(
            value.binding.key, heldBy: holder.binding, in: holder.host, steps: path.map(\.binding.step))
    }

    /// Values that each scope must supply, needed by an instance that a container above the scopes creates and keeps.
    ///
    /// - Parameter validator: Finds captives, which ``captive(_:)`` reports.
    /// - Returns: The paths to each value from those instances.
    private func valuesOutOfReach(_ validator: GraphValidator<AnyObject>) -> [BreadthFirstSearch.Paths] {
        let values = entries.indices.filter { entries[$0].isLeftToScopes }
        if values.isEmpty { return [] }
        return [true, false].flatMap { outlivingScopes -> [BreadthFirstSearch.Paths] in
            func isCaptive(_ number: Int) -> Bool {
                validator.forbids(holderIn: entries[number].host, outlivingScopes: outlivingScopes, number)
            }
            var search = BreadthFirstSearch(
                backward: entries.map { entry in
                    entry.edges.filter { edge in
                        edge.isHeld && !entry.maySkip(edge, to: entries[edge.to], outlivingScopes: outlivingScopes)
                    }
                    .map(\.to)
                })
            return values.filter { !isCaptive($0) }.map { value in
                search.paths(
                    to: value, upTo: GraphValidator<AnyObject>.mostHolders,
                    // Created with the holder, in its container.
                    through: { number in
                        entries[number].binding.lifetime.sharing != .registeringContainer && !isCaptive(number)
                    },
                    from: { number in
                        entries[number].isKeptAboveScopes
                            && entries[number].binding.lifetime.outlivesScopes == outlivingScopes
                    })
            }
        }
    }
}

// MARK: Values that a scope does not supply

extension StaticGraph {
    /// Values that each scope must supply, and that a service needs in a scope that does not: a value that a scope
    /// registers as expected counts as supplied.
    var valuesNotSupplied: [ResolutionError] {
        let requested = roots.filter { !$0.isOptional }.map { entries[$0.number] }.filter(\.isLeftToScopes).map {
            value in
            notSupplied(value, in: asked, advice: "it", steps: [value.binding.step])
        }
        let needed = reachedHere.flatMap { asker in
            edgesHere(of: asker).filter { !$0.isOptional }.map { entries[$0.to] }.filter(\.isLeftToScopes).map {
                value in
                notSupplied(
                    value, in: asker.host, advice: "\(asker.binding.key)",
                    steps: [asker.binding.step, value.binding.step])
            }
        }
        return requested + needed
    }

    private func notSupplied(
        _ value: Entry, in host: any ResolutionHost, advice service: String, steps: [PathStep]
    ) -> ResolutionError {
        ResolutionError(
            .notRegistered,
            "\(value.binding.key) is expected to be supplied by each scope, and \(host.displayName) does not.",
            advice: "Register it when the scope is opened, or resolve \(service) elsewhere.", steps: steps)
    }

    /// The dependencies of a registration without those that other scopes may resolve: the `Provider` of an instance
    /// that lives above the scope is called in those, too.
    private func edgesHere(of entry: Entry) -> [Edge] {
        entry.edges.filter { $0.isHeld || asked.isScope && entry.host === asked }
    }

    /// The registrations that resolving the roots leads to in the scope.
    private var reachedHere: [Entry] {
        reachable(from: roots.map(\.number)) { edgesHere(of: entries[$0]).map(\.to) }.sorted().map { entries[$0] }
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
    fileprivate var isLeftToScopes: Bool { binding.blueprint.isExpected && !table.host.isScope }

    /// The same of such a value or of a decoration of it.
    fileprivate var isUnsupplied: Bool {
        if binding.base == nil { return isLeftToScopes }
        let request = Request(key: binding.key, pack: .none, host: host, asker: nil)
        return (try? request.isUnsupplied(binding, owner: table.host)) == true
    }

    /// Whether a container that is no scope creates and keeps its instances.
    fileprivate var isKeptAboveScopes: Bool {
        binding.lifetime.sharing == .registeringContainer && !binding.blueprint.isExpected
            && binding.blueprint.instance == nil && !host.isScope
    }

    /// Whether the holder would keep an instance that has been reset.
    fileprivate func isReset(under holder: StaticGraph.Entry) -> Bool {
        binding.lifetime.isResettable && holder.binding.lifetime.outlivesScopes
    }

    /// Whether an optional dependency on a value that scopes supply is nil without it: what outlives the scopes would
    /// keep the nil, in the container that expects the value, and is refused.
    fileprivate func maySkip(_ edge: StaticGraph.Edge, to value: StaticGraph.Entry, outlivingScopes: Bool) -> Bool {
        edge.isOptional && value.isUnsupplied && !(outlivingScopes && host === value.table.host)
    }
}
