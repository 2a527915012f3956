/// The sequential oracle: resolves a graph's nodes one after the other, without a task or a container.
///
/// Sharing makes the outcome independent of the order of the requests, so concurrent requests must have the same
/// outcome.
struct ReferenceModel {
    private struct Place: Hashable {
        let node: Int
        let container: Int
    }

    let model: GraphModel
    /// The number of runs of each node's factory.
    private(set) var runs: [Int]
    private var made: Set<Place> = []
    private var identities: [Place: ObjectIdentifier] = [:]

    init(_ model: GraphModel) {
        self.model = model
        runs = Array(repeating: 0, count: model.nodes.count)
    }

    /// The nodes that reach a cycle: no request for one of them can succeed, and every other request must.
    static func doomed(_ model: GraphModel) -> Set<Int> {
        var doomed = Set(model.nodes.indices)
        var changed = true
        while changed {
            let safe = doomed.filter { node in model.nodes[node].dependencies.allSatisfy { !doomed.contains($0) } }
            doomed.subtract(safe)
            changed = !safe.isEmpty
        }
        return doomed
    }

    // MARK: Numbers of runs

    /// Resolves a node from a container: container 0 is the root, the others are scopes opened in it.
    mutating func ask(_ node: Int, in container: Int) {
        var graph: Set<Int> = []
        ask(node, in: container, graph: &graph)
    }

    private mutating func ask(_ node: Int, in container: Int, graph: inout Set<Int>) {
        let sharing = model.nodes[node].sharing
        switch sharing {
        case .transient:
            run(node, in: container, graph: &graph)
        case .graph:
            if graph.insert(node).inserted { run(node, in: container, graph: &graph) }
        case .singleton, .weak, .scoped:
            let place = place(of: node, in: container)
            var own: Set<Int> = []
            if made.insert(place).inserted { run(node, in: place.container, graph: &own) }
        }
    }

    private mutating func run(_ node: Int, in container: Int, graph: inout Set<Int>) {
        runs[node] += 1
        for dependency in model.nodes[node].dependencies {
            ask(dependency, in: container, graph: &graph)
        }
    }

    private func place(of node: Int, in container: Int) -> Place {
        Place(node: node, container: model.nodes[node].sharing == .scoped ? container : 0)
    }

    // MARK: Identities of instances

    /// Follows a result through everything it holds; returns a contradiction of the sharing, or nil.
    ///
    /// All results must be kept alive meanwhile, or two of them might have the same address one after the other.
    mutating func contradiction(in answer: Node, from container: Int) -> String? {
        var graph: [Int: ObjectIdentifier] = [:]
        return contradiction(in: answer, from: container, graph: &graph)
    }

    private mutating func contradiction(
        in answer: Node, from container: Int, graph: inout [Int: ObjectIdentifier]
    ) -> String? {
        let identity = ObjectIdentifier(answer)
        switch model.nodes[answer.index].sharing {
        case .transient:
            return contradiction(below: answer, from: container, graph: &graph)
        case .graph:
            if let known = graph.updateValue(identity, forKey: answer.index) {
                return known == identity ? nil : "graph node \(answer.index) is there twice in one resolution"
            }
            return contradiction(below: answer, from: container, graph: &graph)
        case .singleton, .weak, .scoped:
            let place = place(of: answer.index, in: container)
            if let known = identities.updateValue(identity, forKey: place) {
                return known == identity ? nil : "shared node \(answer.index) is there twice in \(place.container)"
            }
            var own: [Int: ObjectIdentifier] = [:]
            return contradiction(below: answer, from: place.container, graph: &own)
        }
    }

    private mutating func contradiction(
        below answer: Node, from container: Int, graph: inout [Int: ObjectIdentifier]
    ) -> String? {
        guard answer.dependencies.map(\.index) == model.nodes[answer.index].dependencies else {
            return "node \(answer.index) holds \(answer.dependencies.map(\.index))"
        }
        for dependency in answer.dependencies {
            if let found = contradiction(in: dependency, from: container, graph: &graph) { return found }
        }
        return nil
    }
}
