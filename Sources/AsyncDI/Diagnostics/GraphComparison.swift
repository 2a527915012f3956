/// The differences between a recorded run and the declared dependencies.
public struct GraphComparison: Sendable, Hashable {
    /// Dependencies that were resolved but not declared; the names are those of the recorded graph.
    public let undeclared: [DependencyGraph.Edge]
    /// Declared dependencies that created services did not resolve; the names are those of the declared graph.
    public let unseen: [DependencyGraph.Edge]
}

/// A service as both a recorded and a declared graph name it: the name of its node may be longer in one of them.
struct GraphService: Hashable {
    let service: String
    let owner: String?
    let isMaking: Bool

    init(_ node: DependencyGraph.Node) {
        (service, owner, isMaking) = (node.service, node.owner, node.lifetime == Recorder.Facts.making)
    }

    init(_ recorded: RecordedService) {
        (service, owner) = (recorded.text, recorded.isGroup ? nil : recorded.owner)
        isMaking = recorded.key.isMaking
    }
}

extension DependencyGraph {
    /// The registrations that the nodes stand for, by the nodes' names.
    ///
    /// Several registrations may read the same: contributions without a key, the service `S["csv"]` and the
    /// contribution to `S` under the key `csv`, qualifiers of different types. Their lines distinguish them.
    ///
    /// - Parameter records: The registrations.
    /// - Returns: The registration of each node; none for a node whose registration is not known, or not certain.
    func registrations(among records: Recorder.Records) -> [String: RecordedService] {
        let candidates = Dictionary(grouping: records.services.keys) { GraphService($0) }
        var found: [String: RecordedService] = [:]
        for (service, nodes) in Dictionary(grouping: details, by: { GraphService($0) }) {
            guard let registered = candidates[service] else { continue }
            if nodes.count == 1, registered.count == 1 {
                found[nodes[0].name] = registered[0]
                continue
            }
            for node in nodes {
                let here = registered.filter { records.services[$0]?.site?.description == node.site }
                if here.count == 1 { found[node.name] = here[0] }
            }
        }
        return found
    }
}

extension GraphComparison {
    /// Compares by the requesting registration, and by the requested service, which may belong to a container in one
    /// run and to a scope's override in another.
    ///
    /// - Parameters:
    ///   - recorded: The resolved dependencies.
    ///   - graph: The declared dependencies.
    init(of recorded: DependencyGraph, with graph: StaticGraph) {
        let registrations = recorded.registrations(among: graph.records)
        /// Whether a declaration is about the service of a node.
        func isMeant(_ declared: RecordedService, by node: DependencyGraph.Node) -> Bool {
            guard let service = registrations[node.name] else { return declared.text == node.service }
            return declared.key == service.key && declared.isGroup == service.isGroup
        }
        // Groups and their contributions are registrations, never declarations.
        func declaresItsDependencies(_ service: RecordedService) -> Bool {
            graph.records.services[service]?.lifetime != nil && !graph.unknown.contains(service)
        }
        let nodes = Dictionary(uniqueKeysWithValues: recorded.details.map { ($0.name, $0) })
        // Services of `make` cannot be declared.
        let seen = recorded.edges.compactMap {
            edge -> (edge: DependencyGraph.Edge, from: RecordedService, to: DependencyGraph.Node)? in
            guard let from = registrations[edge.from], let to = nodes[edge.to],
                to.lifetime != Recorder.Facts.making
            else { return nil }
            return (edge, from, to)
        }
        // A service without a registration here has no edge, and may be registered in a scope.
        let declared = Dictionary(
            grouping: graph.records.dependencies.map { ($0.from, $0.to) } + graph.declarations, by: \.0)
        let declaredForLater = Dictionary(grouping: graph.declaredForLater, by: \.from)
        undeclared = seen.filter { declaresItsDependencies($0.from) }.filter { _, from, to in
            !declared[from, default: []].contains { isMeant($0.1, by: to) }
                && !declaredForLater[from, default: []].contains {
                    to.service == $0.to.text || to.service.hasPrefix("\($0.to.text)(")
                }
        }.map(\.edge)
        let made = Set(recorded.details.filter { $0.creations > 0 }.compactMap { registrations[$0.name] })
        let seenByRegistration = Dictionary(grouping: seen, by: \.from)
        let names = GraphNames(graph.records)
        let services = Dictionary(uniqueKeysWithValues: graph.records.services.keys.map { (names[$0], $0) })
        unseen = DependencyGraph(recorded: graph.records, named: names).edges.filter { edge in
            guard let from = services[edge.from], let to = services[edge.to], made.contains(from), !to.key.isMaking
            else { return false }
            return !seenByRegistration[from, default: []].contains { isMeant(to, by: $0.to) }
        }
    }
}

extension ContainerCore {
    /// Compares recorded dependencies with those declared here and above.
    func comparison(of graph: DependencyGraph) -> GraphComparison {
        let roots = registeredHereAndAbove.map { StaticGraph.Root(binding: $0.binding, table: $0.table) }
        return GraphComparison(of: graph, with: StaticGraph(of: roots, askedBy: self))
    }

    /// An error for each dependency that was resolved but is not declared.
    func undeclaredErrors(_ edges: [DependencyGraph.Edge], in graph: DependencyGraph) -> [ResolutionError] {
        var records = Recorder.Records()
        var bindings: [RecordedService: Binding] = [:]
        for (binding, table) in registeredHereAndAbove {
            let service = RecordedService(binding, in: table)
            records.note(service, of: binding)
            bindings[service] = binding
            if binding.key.isContribution { records.note(RecordedService(groupOf: binding.key), of: nil) }
        }
        let registrations = graph.registrations(among: records)
        return edges.compactMap { edge in
            guard let from = graph[edge.from], let to = graph[edge.to] else { return nil }
            let steps = [from, to].compactMap { node in
                registrations[node.name].flatMap { bindings[$0] }.map { PathStep(key: $0.key, binding: $0) }
            }
            // A scope's own service has only a name.
            let known = registrations[to.name]?.declaration
            return ResolutionError(
                .undeclaredDependency,
                "\(from.service) resolved \(to.service) during the recording, but its registration does not declare it.",
                advice: "Add \(known ?? "\(to.service) to the .dependencies(…)") \(known == nil ? "of" : "to") the "
                    + "registration, or remove the resolve.",
                steps: steps)
        }
    }

    /// The registrations that a request to this container finds, and those hidden by nearer ones.
    var registeredHereAndAbove: [(binding: Binding, table: InstanceTable)] {
        searchOrder.flatMap { core in
            core.withState { $0.registrations.inOrder }.map { (binding: $0, table: core.table) }
        }
    }
}
