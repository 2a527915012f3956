/// The sequential oracle: resolves a graph's nodes one after the other, without a task or a container.
///
/// Sharing makes the outcome independent of the order of the requests, so concurrent ones must come to the same. The
/// graph may change: `ReferenceModel+Changes.swift`.
struct ReferenceModel {
    /// One registration of a node; the first ones have the numbers of their nodes.
    struct Entry: Sendable {
        let node: Int
        let sharing: GraphModel.Sharing
        let dependencies: [Int]
        /// The container that it is registered in.
        let owner: Int
    }

    /// Where an instance is shared.
    struct Place: Hashable, Sendable {
        let entry: Int
        let container: Int
    }

    /// Why a request fails.
    enum Refusal: Error, Equatable {
        case notRegistered, circular, captive, disposed
    }

    var entries: [Entry]
    /// How often each node's factory runs.
    private(set) var runs: [Int]
    /// How often each entry's factory ran at each place: at its owner's for what is not shared.
    private(set) var runsByPlace: [Place: Int] = [:]
    /// The entries of each container, by node.
    var tables: [Int: [Int: Int]]
    /// The containers' parents: the root for those that are not listed.
    var parents: [Int: Int] = [:]
    var closed: Set<Int> = []
    var made: Set<Place> = []
    /// Places of which a race decides whether they hold an instance.
    var doubtful: Set<Place> = []
    /// Places whose instances, if they have survived such a race, were made when registrations were others.
    var old: Set<Place> = []
    /// Whether the factory of a doubtful place ran again, which says that it held none.
    var hasRun: @Sendable (Place) -> Bool = { _ in false }
    var identities: [Place: ObjectIdentifier] = [:]

    init(_ model: GraphModel) {
        entries = model.nodes.enumerated().map {
            Entry(node: $0, sharing: $1.sharing, dependencies: $1.dependencies, owner: 0)
        }
        tables = [0: Dictionary(uniqueKeysWithValues: model.nodes.indices.map { ($0, $0) })]
        runs = Array(repeating: 0, count: model.nodes.count)
    }

    /// The nodes that reach a cycle: no request for one of them can succeed, every request for another one must.
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

    /// The nearest registration of a node.
    func entry(of node: Int, from container: Int) -> Int? {
        var container = container
        while true {
            if let entry = tables[container]?[node] { return entry }
            if container == 0 { return nil }
            container = parents[container] ?? 0
        }
    }

    private func place(of entry: Int, in container: Int) -> Place {
        Place(entry: entry, container: entries[entry].sharing == .scoped ? container : entries[entry].owner)
    }

    // MARK: Numbers of runs

    /// The creations under way while a factory runs.
    private struct Way {
        /// Creations whose instances will be shared.
        var shared: [Place] = []
        /// Creations of unshared instances since the last shared one: they start anew.
        var own: [Int] = []
        /// The container of the singleton or weak instance that is being made, which must not hold what ends before it.
        var holder: Int?
    }

    /// Asks a container for a node: container 0 is the root, the others are scopes opened in it.
    mutating func ask(_ node: Int, in container: Int) { try? request(node, in: container) }

    /// Asks a container for a node.
    mutating func request(_ node: Int, in container: Int) throws(Refusal) {
        var graph: Set<Int> = []
        try request(node, in: container, Way(), graph: &graph)
    }

    private mutating func request(
        _ node: Int, in container: Int, _ way: Way, graph: inout Set<Int>
    ) throws(Refusal) {
        if closed.contains(container) { throw .disposed }
        guard let number = entry(of: node, from: container) else { throw .notRegistered }
        let sharing = entries[number].sharing
        let place = place(of: number, in: container)
        switch sharing {
        case .transient, .graph:
            if way.own.contains(number) { throw .circular }
            if sharing == .graph, !graph.insert(number).inserted { return }
            var inner = way
            inner.own.append(number)
            try run(number, in: container, at: place, inner, graph: &graph)
        case .singleton, .weak, .scoped:
            if sharing == .scoped, way.holder == 0 { throw .captive }
            if made.contains(place) { return }
            if way.shared.contains(place) { throw .circular }
            if doubtful.remove(place) != nil, !hasRun(place) {
                made.insert(place)
                return
            }
            var own: Set<Int> = []
            old.remove(place)
            var inner = Way(shared: way.shared + [place])
            inner.holder = sharing == .scoped ? nil : place.container
            try run(number, in: place.container, at: place, inner, graph: &own)
            made.insert(place)
        }
    }

    private mutating func run(
        _ entry: Int, in container: Int, at place: Place, _ way: Way, graph: inout Set<Int>
    ) throws(Refusal) {
        runs[entries[entry].node] += 1
        runsByPlace[place, default: 0] += 1
        for dependency in entries[entry].dependencies {
            try request(dependency, in: container, way, graph: &graph)
        }
    }

    // MARK: Identical instances

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
        guard let number = entry(of: answer.index, from: container), number == answer.registration else {
            return "node \(answer.index) was made by registration \(answer.registration), not by the nearest one"
        }
        switch entries[number].sharing {
        case .transient:
            return contradiction(below: answer, from: container, graph: &graph)
        case .graph:
            if let known = graph.updateValue(identity, forKey: number) {
                return known == identity ? nil : "graph node \(answer.index) is there twice in one resolution"
            }
            return contradiction(below: answer, from: container, graph: &graph)
        case .singleton, .weak, .scoped:
            let place = place(of: number, in: container)
            if let known = identities.updateValue(identity, forKey: place) {
                return known == identity ? nil : "shared node \(answer.index) is there twice in \(place.container)"
            }
            if old.remove(place) != nil { return nil }
            var own: [Int: ObjectIdentifier] = [:]
            return contradiction(below: answer, from: place.container, graph: &own)
        }
    }

    private mutating func contradiction(
        below answer: Node, from container: Int, graph: inout [Int: ObjectIdentifier]
    ) -> String? {
        let expected = entries[answer.registration].dependencies
        guard answer.dependencies.map(\.index) == expected else {
            return "node \(answer.index) holds \(answer.dependencies.map(\.index))"
        }
        for dependency in answer.dependencies {
            if let found = contradiction(in: dependency, from: container, graph: &graph) { return found }
        }
        return nil
    }
}
