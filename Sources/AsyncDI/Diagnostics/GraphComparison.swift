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

extension GraphComparison {
    /// A dependency, resolved or declared: its service may belong to a container in one run and to a scope's override
    /// in another.
    private struct Match: Hashable {
        let from: GraphService
        let to: String
    }

    /// Compares by the requesting service and its owner, and by the requested service.
    ///
    /// - Parameters:
    ///   - recorded: The resolved dependencies.
    ///   - graph: The declared dependencies.
    init(of recorded: DependencyGraph, with graph: StaticGraph) {
        let declared = DependencyGraph(recorded: graph.records)
        let (seen, known) = (Self.matches(recorded), Self.matches(declared))
        // Groups and their contributions are registrations, never declarations.
        let looked = Set(declared.details.lazy.filter { $0.lifetime != nil }.map { GraphService($0) })
            .subtracting(graph.unknown.map { GraphService($0) })
        let made = Set(recorded.details.lazy.filter { $0.creations > 0 }.map { GraphService($0) })
        let seenMatches = Set(seen.map(\.match))
        // A service without a registration here has no edge, and may be registered in a scope.
        let declaredMatches = Set(known.map(\.match))
            .union(graph.declarations.map { Match(from: GraphService($0.from), to: $0.to.text) })
        let forLater = Dictionary(grouping: graph.declaredForLater) { GraphService($0.from) }
            .mapValues { $0.map(\.to.text) }
        func isDeclared(_ match: Match) -> Bool {
            if declaredMatches.contains(match) { return true }
            return forLater[match.from, default: []].contains { match.to == $0 || match.to.hasPrefix("\($0)(") }
        }
        undeclared = seen.filter { looked.contains($0.match.from) && !isDeclared($0.match) }.map(\.edge)
        unseen = known.filter { made.contains($0.match.from) && !seenMatches.contains($0.match) }.map(\.edge)
    }

    /// The edges of a graph, except those to services of `make`: these cannot be declared.
    private static func matches(_ graph: DependencyGraph) -> [(edge: DependencyGraph.Edge, match: Match)] {
        let services = Dictionary(uniqueKeysWithValues: graph.details.map { ($0.name, GraphService($0)) })
        return graph.edges.compactMap { edge in
            guard let from = services[edge.from], let to = services[edge.to], !to.isMaking else { return nil }
            return (edge, Match(from: from, to: to.service))
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
        var services: [GraphService: RecordedService] = [:]
        var bindings: [GraphService: Binding] = [:]
        for (binding, table) in registeredHereAndAbove {
            let service = RecordedService(binding, in: table)
            services[GraphService(service)] = service
            bindings[GraphService(service)] = binding
            guard case .contribution = binding.key.role else { continue }
            let group = RecordedService(groupOf: binding.key)
            services[GraphService(group)] = group
        }
        return edges.compactMap { edge in
            guard let from = graph[edge.from].map({ GraphService($0) }),
                let to = graph[edge.to].map({ GraphService($0) })
            else { return nil }
            let steps = [from, to].compactMap { service in
                bindings[service].map { PathStep(key: $0.key, binding: $0) }
            }
            // A scope's own service has only a name.
            let declaration = services[to]?.declaration ?? "\(to.service) to the .dependencies(…)"
            return ResolutionError(
                .undeclaredDependency,
                "\(from.service) resolved \(to.service) during the recording, but its registration does not declare it.",
                advice: "Add \(declaration) \(services[to] == nil ? "of" : "to") the registration, or remove "
                    + "the resolve.",
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
