import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<Int, Int, Int>

/// How much a search costs, in the nodes that it looks at.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphCostTests {
    /// Nodes 0, 1, 2, …, each of which waits for the next one.
    private func chain(_ length: Int) -> Graph {
        var graph = Graph()
        for node in 0..<length { _ = graph.ask(node, from: node, label: node, for: node + 1) }
        return graph
    }

    @Test(arguments: [500, 1_000, 2_000, 4_000])
    func `waiting at the head of a long chain costs the same for each, however long it is`(length: Int) {
        var graph = chain(length)
        let before = graph.steps
        for other in 0..<length { _ = graph.ask(10_000 + other, from: -1 - other, label: 0, for: 0) }
        #expect(graph.steps - before <= 4 * length)
    }

    @Test(arguments: [500, 1_000, 2_000, 4_000])
    func `a chain that grows at its tail costs the same for each step`(length: Int) {
        #expect(chain(length).steps <= 4 * length)
    }

    @Test(arguments: [500, 1_000, 2_000, 4_000])
    func `a chain that grows at its head costs the same for each step`(length: Int) {
        var graph = Graph()
        for node in (0..<length).reversed() { _ = graph.ask(node, from: node, label: node, for: node + 1) }
        #expect(graph.steps <= 4 * length)
    }

    @Test(arguments: [500, 1_000, 2_000, 4_000])
    func `asking from the tail of a long chain for a creation without waits costs the same for each`(length: Int) {
        var graph = chain(length)
        let before = graph.steps
        for other in 0..<length { _ = graph.ask(10_000 + other, from: length, label: 0, for: -1 - other) }
        #expect(graph.steps - before <= 4 * length)
    }

    @Test(arguments: [500, 1_000, 2_000, 4_000])
    func `a cycle is found in as many steps as it is long, and its path is whole`(length: Int) {
        var graph = chain(length)
        let before = graph.steps
        guard case .cycle(let labels) = graph.ask(-1, from: length, label: -1, for: 0) else {
            Issue.record("it closes a cycle")
            return
        }
        #expect(labels == Array(0..<length))
        #expect(graph.steps - before <= 4 * length)
    }

    // MARK: Open nodes

    /// A graph in which node 100 waits for every node below ten.
    private func openGraph() -> Graph {
        Graph(outer: { $0 < 10 ? [100] : [] }, kind: { $0 == 100 ? .disposal : .creation })
    }

    @Test func `a wait for an open node that waits for the asker is a cycle`() {
        var graph = openGraph()
        guard case .cycle = graph.ask(1, from: 1, label: 1, for: 100) else {
            Issue.record("it closes a cycle")
            return
        }
        guard case .wait = graph.ask(2, from: 20, label: 2, for: 100) else {
            Issue.record("nothing there waits for 20")
            return
        }
        // 20 waits for 100, which waits for 2.
        guard case .cycle(let labels) = graph.ask(3, from: 2, label: 3, for: 20) else {
            Issue.record("it closes a cycle")
            return
        }
        #expect(labels == [2])
    }

    @Test func `a wait that began before the open node was waited for counts`() {
        var graph = openGraph()
        guard case .wait = graph.ask(1, from: 1, label: 1, for: 30) else {
            Issue.record("30 waits for nothing")
            return
        }
        guard case .cycle(let labels) = graph.ask(2, from: 30, label: 2, for: 100) else {
            Issue.record("100 waits for 1, and 1 for 30")
            return
        }
        #expect(labels == [1])
    }

    // MARK: Held creations

    @Test func `the end of a creation costs the same, however many others are held`() {
        var graph = Graph()
        // Each odd node has received the instance of the node before it, whose hooks still run.
        let pairs = 0..<30_000
        for pair in pairs {
            let (made, holder) = (2 * pair, 2 * pair + 1)
            graph.instanceMade(by: made)
            _ = graph.ask(made, from: made, label: 0, for: holder)
            guard case .takeEarly = graph.ask(holder, from: holder, label: 0, for: made) else {
                Issue.record("the instance exists")
                return
            }
            guard case .hold = graph.ownWorkDone(holder) else {
                Issue.record("it waits for the other one")
                return
            }
        }
        // One that has nothing to do with them.
        guard case .complete([-1]) = graph.ownWorkDone(-1) else {
            Issue.record("nothing holds it")
            return
        }
        for pair in pairs {
            guard case .complete([2 * pair + 1, 2 * pair]) = graph.ownWorkDone(2 * pair) else {
                Issue.record("both are complete")
                return
            }
        }
        #expect(graph.isEmpty)
    }
}
