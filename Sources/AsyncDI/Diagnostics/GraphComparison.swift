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
            let byLine = Dictionary(grouping: registered) { records.services[$0]?.site?.description }
            for node in nodes {
                if let here = byLine[node.site], here.count == 1 { found[node.name] = here[0] }
            }
        }
        return found
    }
}

extension GraphComparison {
    /// A dependency, resolved or declared.
    ///
    /// The requested service may belong to a container in one run and to a scope's override in another.
    private static func match(_ from: RecordedService, _ to: RecordedService) -> [AnyHashable] {
        [from, to.key, to.isGroup]
    }

    /// A dependency on a service without a registration that is known: only its text is.
    private static func match(_ from: RecordedService, _ text: String) -> [AnyHashable] { [from, text] }

    /// Compares by the requesting registration, and by the requested service.
    ///
    /// - Parameters:
    ///   - recorded: The resolved dependencies.
    ///   - graph: The declared dependencies.
    init(of recorded: DependencyGraph, with graph: StaticGraph) {
        let registrations = recorded.registrations(among: graph.records)
        // Groups and their contributions are registrations, never declarations.
        func declaresItsDependencies(_ service: RecordedService) -> Bool {
            graph.records.services[service]?.lifetime != nil && !graph.unknown.contains(service)
        }
        let nodes = Dictionary(uniqueKeysWithValues: recorded.details.map { ($0.name, $0) })
        // Services of `make` cannot be declared.
        typealias Seen = (edge: DependencyGraph.Edge, from: RecordedService, match: [AnyHashable], text: String)
        let seen = recorded.edges.compactMap { edge -> Seen? in
            guard let from = registrations[edge.from], let to = nodes[edge.to], to.lifetime != Recorder.Facts.making
            else { return nil }
            let match = registrations[edge.to].map { Self.match(from, $0) } ?? Self.match(from, to.service)
            return (edge, from, match, to.service)
        }
        // A service without a registration here has no edge, and may be registered in a scope.
        let declarations = graph.records.dependencies.map { ($0.from, $0.to) } + graph.declarations
        let declared = Set(declarations.flatMap { from, to in [Self.match(from, to), Self.match(from, to.text)] })
        let forLater = Dictionary(grouping: graph.declaredForLater, by: \.from).mapValues { $0.map(\.to.text) }
        undeclared = seen.filter { _, from, match, text in
            guard declaresItsDependencies(from), !declared.contains(match) else { return false }
            return !forLater[from, default: []].contains { text == $0 || text.hasPrefix("\($0)(") }
        }
        .map(\.edge)
        let made = Set(recorded.details.filter { $0.creations > 0 }.compactMap { registrations[$0.name] })
        let seenMatches = Set(seen.map(\.match))
        let names = GraphNames(graph.records)
        let services = Dictionary(uniqueKeysWithValues: graph.records.services.keys.map { (names[$0], $0) })
        unseen = DependencyGraph(recorded: graph.records, named: names).edges.filter { edge in
            guard let from = services[edge.from], let to = services[edge.to], made.contains(from), !to.key.isMaking
            else { return false }
            return seenMatches.isDisjoint(with: [Self.match(from, to), Self.match(from, to.text)])
        }
    }
}

extension ContainerCore {
    /// The declared dependencies of every service that is registered here or above.
    var graphHereAndAbove: StaticGraph { StaticGraph(of: registeredHereAndAbove, askedBy: self) }

    /// An error for each dependency that was resolved but is not declared.
    func undeclaredErrors(_ edges: [DependencyGraph.Edge], in graph: DependencyGraph) -> [ResolutionError] {
        var records = Recorder.Records()
        var bindings: [RecordedService: Binding] = [:]
        for root in registeredHereAndAbove {
            let service = RecordedService(root.binding, in: root.table)
            records.note(service, of: root.binding)
            bindings[service] = root.binding
            if root.binding.key.isContribution { records.note(RecordedService(groupOf: root.binding.key), of: nil) }
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
    var registeredHereAndAbove: [StaticGraph.Root] {
        searchOrder.flatMap { core in
            core.withState { $0.registrations.inOrder }.map { StaticGraph.Root(binding: $0, table: core.table) }
        }
    }
}
