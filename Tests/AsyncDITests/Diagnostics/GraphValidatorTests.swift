import Testing

@testable import AsyncDI

/// The pure validator, against a model that follows every path.
@Suite(.timeLimit(.minutes(10))) struct GraphValidatorTests {
    /// A container that knows its parent.
    private final class Place {
        let parent: Place?
        init(_ parent: Place? = nil) { self.parent = parent }
    }
    private typealias Validator = GraphValidator<Place>
    private typealias Node = Validator.Node

    private func validator(_ nodes: [Node]) -> Validator {
        Validator(nodes: nodes, rule: CaptiveRule(parent: \.parent))
    }

    @Test func `a cycle is given as its nodes, one for each edge that closes one`() {
        let nodes = [[1], [2], [0, 1], [3], []].map { Node(sharing: .asker, edges: $0.map { .init(to: $0) }) }
        #expect(validator(nodes).cycles == [[0, 1, 2], [1, 2], [3]])
    }

    @Test func `every edge that is part of a cycle is in one that is given`() {
        // A search in depth meets 0 → 2 when 2 is done.
        let nodes = [[1, 2], [2], [0]].map { Node(sharing: .asker, edges: $0.map { .init(to: $0) }) }
        #expect(validator(nodes).cycles == [[0, 1, 2], [0, 2]])
    }

    @Test func `of services that all need one another so many cycles are given, and no more`() {
        let all = (0..<200).map { node in
            Node(sharing: .asker, edges: (0..<200).filter { $0 != node }.map { .init(to: $0) })
        }
        let cycles = validator(all).cycles
        #expect(cycles.count == 100 && cycles.allSatisfy { $0.count == 2 })
    }

    @Test func `later needs, and nodes that all have arguments, close no cycle`() {
        let later = [
            Node(sharing: .asker, edges: [.init(to: 1)]),
            Node(sharing: .asker, edges: [.init(to: 0, isNeededAtOnce: false)]),
        ]
        #expect(validator(later).cycles.isEmpty)
        let arguments = [Node(sharing: .asker, hasArguments: true, edges: [.init(to: 0)])]
        #expect(validator(arguments).cycles.isEmpty)
        let pair = (0...1).map { Node(sharing: .asker, hasArguments: true, edges: [.init(to: 1 - $0)]) }
        #expect(validator(pair).cycles.isEmpty)
    }

    @Test func `a cycle leads through arguments, unless they may decide that it ends`() {
        func nodes(choosing: Bool) -> [Node] {
            [
                Node(sharing: .asker, edges: [.init(to: 1)]),
                Node(sharing: .asker, hasArguments: true, choosesByArguments: choosing, edges: [.init(to: 0)]),
            ]
        }
        #expect(validator(nodes(choosing: false)).cycles == [[0, 1]])
        #expect(validator(nodes(choosing: true)).cycles.isEmpty)
    }

    @Test func `cycles that do not count do not use up the limit`() {
        // A hundred and fifty recursions with arguments before the one without.
        let count = 151
        let nodes = (0...count).map { number -> Node in
            let edges: [Validator.Edge] =
                number == count ? [.init(to: 0)] : [.init(to: number), .init(to: number + 1)]
            return Node(sharing: .asker, hasArguments: number < count, edges: edges)
        }
        #expect(validator(nodes).cycles == [Array(0...count)])
    }

    @Test func `a root singleton holds a scoped service through transients, but not a provided service`() {
        let root = Place()
        let singleton = Validator.Sharing.place(root, isScoped: false, outlivesScopes: true)
        let scoped = Validator.Sharing.place(root, isScoped: true, outlivesScopes: false)
        let held = [
            Node(sharing: singleton, edges: [.init(to: 1)]), Node(sharing: .asker, edges: [.init(to: 2)]),
            Node(sharing: scoped),
        ]
        #expect(validator(held).captives == [.init(paths: [[0, 1, 2]])])
        let asked = [Node(sharing: singleton, edges: [.init(to: 1, isHeld: false)]), Node(sharing: scoped)]
        #expect(validator(asked).captives.isEmpty)
        let apart = [
            Node(sharing: singleton, edges: [.init(to: 1)]), Node(sharing: singleton, edges: [.init(to: 2)]),
            Node(sharing: scoped),
        ]
        #expect(validator(apart).captives == [.init(paths: [[1, 2]])], "the nearest holder is the one that holds it")
    }

    @Test(arguments: 0..<500) func `random graphs have the cycles and captives that a simple model finds`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let root = Place()
        let places = [root, Place(root), Place(root)]
        let count = Int.random(in: 1...8, using: &random)
        let nodes = (0..<count).map { _ -> Node in
            let place = places.randomElement(using: &random)!
            let sharing: Validator.Sharing =
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: .asker
                case 2: .place(place, isScoped: false, outlivesScopes: true)
                case 3: .place(place, isScoped: .random(using: &random), outlivesScopes: false, isResettable: true)
                default: .place(place, isScoped: true, outlivesScopes: false)
                }
            let edges = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Validator.Edge(
                    to: Int.random(in: 0..<count, using: &random),
                    isNeededAtOnce: Int.random(in: 0..<4, using: &random) > 0,
                    isHeld: Int.random(in: 0..<4, using: &random) > 0)
            }
            let hasArguments = Int.random(in: 0..<3, using: &random) == 0
            return Node(
                sharing: sharing, hasArguments: hasArguments,
                choosesByArguments: hasArguments && Int.random(in: 0..<4, using: &random) == 0, edges: edges)
        }
        let validator = validator(nodes)

        // A node is in a cycle when it reaches itself; nodes that all have arguments make none.
        let reach = transitiveClosure(count) { from, to in
            nodes[from].edges.contains { $0.to == to && $0.isNeededAtOnce } && !nodes[from].choosesByArguments
        }
        #expect(validator.cycles.isEmpty == (0..<count).allSatisfy { !reach[$0][$0] || nodes[$0].hasArguments })
        for cycle in validator.cycles {
            #expect(cycle.contains { !nodes[$0].hasArguments })
            for (from, to) in zip(cycle, cycle.dropFirst() + [cycle[0]]) {
                #expect(nodes[from].edges.contains { $0.to == to && $0.isNeededAtOnce })
            }
        }
        let given = validator.cycles.flatMap { zip($0, $0.dropFirst() + [$0[0]]).map { [$0, $1] } }
        for from in 0..<count where !nodes[from].hasArguments {
            for edge in nodes[from].edges where edge.isNeededAtOnce && (edge.to == from || reach[edge.to][from]) {
                #expect(given.contains([from, edge.to]))
            }
        }

        // A holder has a captive when it reaches it through nodes that live in their asker.
        let inline = transitiveClosure(count) { from, to in
            guard case .asker = nodes[from].sharing else { return false }
            return nodes[from].edges.contains { $0.to == to && $0.isHeld }
        }
        var expected: Set<[Int]> = []
        for holder in 0..<count {
            guard case .place(let home, _, let outlives, _) = nodes[holder].sharing else { continue }
            for target in 0..<count where target != holder {
                guard case .place(let place, let isScoped, _, let isResettable) = nodes[target].sharing else {
                    continue
                }
                let reaches = nodes[holder].edges.contains { $0.isHeld && ($0.to == target || inline[$0.to][target]) }
                let isBelow = place !== home && place.parent === home
                let isNobodysScope = place === home && isScoped && outlives && home.parent == nil
                if reaches, isBelow || isNobodysScope || outlives && isResettable { expected.insert([holder, target]) }
            }
        }
        #expect(Set(validator.captives.flatMap(\.paths).map { [$0.first!, $0.last!] }) == expected)
    }

    private func transitiveClosure(_ count: Int, _ isEdge: (Int, Int) -> Bool) -> [[Bool]] {
        var reach = (0..<count).map { from in (0..<count).map { isEdge(from, $0) } }
        for middle in 0..<count {
            for from in 0..<count where reach[from][middle] {
                for to in 0..<count where reach[middle][to] { reach[from][to] = true }
            }
        }
        return reach
    }
}
