/// How a recorded run differs from what was declared.
public struct GraphComparison: Sendable, Hashable {
    /// What was resolved although it is not declared; the names are those of the recorded graph.
    public let undeclared: [DependencyGraph.Edge]
    /// What is declared but was not resolved, by services that were made; the names are those of the declared graph.
    public let unseen: [DependencyGraph.Edge]
}

/// A service as both a recorded and a declared graph call it: the name of its node may be longer in one of them.
struct GraphService: Hashable {
    let service: String
    let owner: String?

    init(_ node: DependencyGraph.Node) { (service, owner) = (node.service, node.owner) }
    init(_ recorded: RecordedService) {
        (service, owner) = (recorded.text, recorded.isGroup ? nil : recorded.owner)
    }
}

extension GraphComparison {
    /// Compares by service and owner of who asks, and by the service asked for: that may be one container's in one run and a
    /// scope's override in another.
    ///
    /// - Parameters:
    ///   - recorded: What was seen.
    ///   - graph: What is declared.
    ///   - undeclarable: Services that nobody can declare.
    init(of recorded: DependencyGraph, with graph: StaticGraph, undeclarable: Set<String>) {
        struct Match: Hashable {
            let from: GraphService
            let to: String
        }
        func matches(_ graph: DependencyGraph) -> [(edge: DependencyGraph.Edge, match: Match)] {
            let services = Dictionary(uniqueKeysWithValues: graph.details.map { ($0.name, GraphService($0)) })
            return graph.edges.compactMap { edge in
                guard let from = services[edge.from], let to = services[edge.to] else { return nil }
                return (edge, Match(from: from, to: to.service))
            }
        }
        let declared = DependencyGraph(recorded: graph.records)
        let (seen, known) = (matches(recorded), matches(declared))
        // Groups and their contributions are what was registered: nobody declares them.
        let looked = Set(declared.details.lazy.filter { $0.lifetime != nil }.map { GraphService($0) })
            .subtracting(graph.unknown.map { GraphService($0) })
        let made = Set(recorded.details.lazy.filter { $0.creations > 0 }.map { GraphService($0) })
        let seenMatches = Set(seen.map(\.match))
        // What is not registered here, so that no edge leads to it, may be in a scope.
        let declaredMatches = Set(known.map(\.match))
            .union(graph.declarations.map { Match(from: GraphService($0.from), to: $0.to.text) })
        undeclared = seen.filter { _, match in
            looked.contains(match.from) && !declaredMatches.contains(match) && !undeclarable.contains(match.to)
        }
        .map(\.edge)
        unseen = known.filter { made.contains($0.match.from) && !seenMatches.contains($0.match) }.map(\.edge)
    }
}

extension ContainerCore {
    /// Compares what was recorded with what is declared here.
    func comparison(of graph: DependencyGraph, with declared: StaticGraph) -> GraphComparison {
        let keys = registeredHereAndAbove.map { RecordedService($0.recipe, in: $0.table) }
        let made = Set(keys.lazy.filter(\.key.isMaking).map(\.text))
        return GraphComparison(
            of: graph, with: declared, undeclarable: made.subtracting(keys.lazy.filter { !$0.key.isMaking }.map(\.text))
        )
    }

    /// An error for each dependency that was seen but is not declared.
    func undeclaredErrors(_ edges: [DependencyGraph.Edge], in graph: DependencyGraph) -> [ResolutionError] {
        var services: [GraphService: RecordedService] = [:]
        var recipes: [GraphService: Recipe] = [:]
        for (recipe, table) in registeredHereAndAbove {
            let service = RecordedService(recipe, in: table)
            services[GraphService(service)] = service
            recipes[GraphService(service)] = recipe
            guard case .contribution = recipe.key.role else { continue }
            let group = RecordedService(groupOf: recipe.key)
            services[GraphService(group)] = group
        }
        return edges.compactMap { edge in
            guard let from = graph[edge.from].map({ GraphService($0) }),
                let to = graph[edge.to].map({ GraphService($0) })
            else { return nil }
            let steps = [from, to].compactMap { service in
                recipes[service].map { PathStep(key: $0.key, recipe: $0, pack: .none) }
            }
            // A scope's own service has a name only.
            let declaration = services[to]?.declaration ?? "\(to.service) to the .dependencies(…)"
            return ResolutionError(
                .undeclaredDependency,
                "\(from.service) was seen to resolve \(to.service), which its registration does not declare.",
                advice: "Add \(declaration) \(services[to] == nil ? "of" : "to") it, or stop resolving it there.",
                steps: steps)
        }
    }

    /// The registrations that a request of this container finds, and those that are hidden by nearer ones.
    private var registeredHereAndAbove: [(recipe: Recipe, table: InstanceTable)] {
        searchOrder.flatMap { core in
            core.withState { $0.registrations.inOrder }.map { (recipe: $0, table: core.table) }
        }
    }
}
