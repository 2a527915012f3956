import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// The edges of the graph of waits, one event at a time.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphTests {
    // MARK: Waiting

    @Test func `a wait is recorded until its target is gone`() {
        var graph = Graph()
        #expect(graph.isEmpty)
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(!graph.isEmpty)
        #expect(graph.settle("B") == .complete(["B"]))
        #expect(graph.isEmpty)
    }

    @Test func `a wait is recorded until its asker is gone`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        graph.remove("A")
        #expect(graph.isEmpty)
    }

    @Test func `a creation that waits for nothing and was given nothing early is complete at once`() {
        var graph = Graph()
        #expect(graph.settle("A") == .complete(["A"]))
        graph.made("A")
        #expect(graph.settle("A") == .complete(["A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a chain is no cycle`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "A", "D") == .wait)
    }

    @Test func `a diamond is no cycle`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "A", "C") == .wait)
        #expect(graph.ask(3, "B", "D") == .wait)
        #expect(graph.ask(4, "C", "D") == .wait)
        for node in ["D", "C", "B", "A"] { #expect(graph.settle(node) == .complete([node])) }
        #expect(graph.isEmpty)
    }

    @Test func `child tasks of one creation wait for the same one, each by itself`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "A", "B") == .wait)
        graph.withdraw(1)
        graph.checkInvariants()
        #expect(graph.ask(3, "B", "A") == .cycle(["A to B"]), "the second one still waits")
        graph.withdraw(2)
        graph.checkInvariants()
        #expect(graph.isEmpty)
        #expect(graph.ask(4, "B", "A") == .wait)
    }

    @Test func `child tasks of one creation wait for several others`() {
        var graph = Graph()
        for (waiter, target) in [(1, "B"), (2, "C"), (3, "D")] { #expect(graph.ask(waiter, "A", target) == .wait) }
        for target in ["B", "C", "D"] { #expect(graph.ask(9, target, "A") == .cycle(["A to \(target)"])) }
        #expect(graph.settle("C") == .complete(["C"]))
        #expect(graph.ask(9, "C", "A") == .wait, "it is another creation of C")
    }

    // MARK: Cycles

    @Test func `a creation that asks for itself is a cycle without steps in between`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "A") == .cycle([]))
        #expect(graph.isEmpty)
    }

    @Test func `a cycle of two has the label of the other's request`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .cycle(["A to B"]))
    }

    @Test func `a cycle of three has its labels in order, from the target to the asker`() {
        var graph = Graph()
        #expect(graph.ask(1, "B", "C") == .wait)
        #expect(graph.ask(2, "A", "B") == .wait)
        #expect(graph.ask(3, "C", "A") == .cycle(["A to B", "B to C"]))
        #expect(graph.ask(4, "C", "B") == .cycle(["B to C"]))
    }

    @Test func `of several paths the shortest is told`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "A", "D") == .wait)
        #expect(graph.ask(5, "D", "A") == .cycle(["A to D"]))
    }

    @Test func `only the closing request is refused, and the others go on`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .cycle(["A to B"]))
        #expect(graph.ask(3, "B", "C") == .wait, "B goes another way")
        #expect(graph.settle("C") == .complete(["C"]))
        #expect(graph.settle("B") == .complete(["B"]))
        #expect(graph.settle("A") == .complete(["A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a refused request leaves nothing behind`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .cycle(["A to B"]))
        graph.withdraw(2)
        graph.checkInvariants()
        graph.withdraw(1)
        #expect(graph.isEmpty)
    }

    @Test func `a request that was withdrawn closes no cycle`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        graph.withdraw(1)
        #expect(graph.ask(2, "B", "A") == .wait)
        graph.withdraw(1)
        graph.withdraw(77)
        graph.checkInvariants()
        #expect(graph.ask(3, "A", "B") == .cycle(["B to A"]))
    }

    @Test func `a creation that has ended closes no cycle`() {
        var graph = Graph()
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.fail("B").isEmpty)
        graph.checkInvariants()
        #expect(graph.ask(3, "C", "A") == .wait)
    }

    // MARK: Creations inside others

    @Test func `a creation waits for the creations that run in its task`() {
        var graph = Graph()
        graph.enter("B", inside: "A", label: "A to B")
        graph.checkInvariants()
        #expect(graph.ask(1, "B", "A") == .cycle(["A to B"]))
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .cycle(["A to B", "B to C"]))
        #expect(graph.ask(4, "C", "B") == .cycle(["B to C"]))
    }

    @Test func `an inner creation does not wait for the outer one`() {
        var graph = Graph()
        graph.enter("B", inside: "A", label: "A to B")
        #expect(graph.ask(1, "A", "B") == .wait, "a child task of A waits for what another one makes")
        #expect(graph.ask(2, "A", "C") == .wait)
        #expect(graph.ask(3, "C", "B") == .wait)
    }

    @Test func `creations nest, and go one by one`() {
        var graph = Graph()
        graph.enter("B", inside: "A", label: "A to B")
        graph.enter("C", inside: "B", label: "B to C")
        graph.enter("D", inside: "A", label: "A to D")
        graph.checkInvariants()
        #expect(graph.ask(1, "C", "A") == .cycle(["A to B", "B to C"]))
        #expect(graph.ask(2, "C", "D") == .wait)
        graph.leave("C")
        graph.checkInvariants()
        #expect(graph.ask(3, "C", "A") == .wait)
        graph.leave("C")
        #expect(graph.settle("D") == .complete(["D"]))
        #expect(graph.settle("B") == .complete(["B"]))
        #expect(graph.settle("C") == .complete(["C"]))
        #expect(graph.settle("A") == .complete(["A"]))
        #expect(graph.isEmpty)
    }

    @Test func `when the outer one ends first the inner one is on its own`() {
        var graph = Graph()
        graph.enter("B", inside: "A", label: "A to B")
        #expect(graph.fail("A").isEmpty)
        graph.checkInvariants()
        #expect(graph.isEmpty)
        graph.leave("B")
        #expect(graph.isEmpty)
    }

    // MARK: Any order of events

    /// Requests in any order: also of creations that are held or over, as tasks that outlive them make.
    @Test func `random events keep the invariants`() throws {
        for seed in 0..<2_000 {
            var random = SeededRandom(seed: UInt64(seed))
            let nodes = ["A", "B", "C", "D", "E", "F"].prefix(2 + random.below(5)).map(\.self)
            var graph = Graph()
            var inner: [String] = []
            var done: Set<String> = []
            var over: [String] = []
            for waiter in 0..<50 {
                let node = random.pick(nodes)
                switch random.below(20) {
                case 0..<9: _ = graph.ask(waiter, node, random.pick(nodes))
                case 9..<11: graph.withdraw(random.below(waiter + 1))
                case 11..<13: if !done.contains(node) { graph.made(node) }
                case 13..<16:
                    guard done.insert(node).inserted else { continue }
                    switch graph.settle(node) {
                    case .complete(let group): over += group
                    case .hold: break
                    case .fail: over += graph.fail(node) + [node]
                    }
                case 16: if done.insert(node).inserted { over += graph.fail(node) + [node] }
                case 17: if let node = over.randomElement(using: &random) { graph.remove(node) }
                case 18:
                    // As in practice, a run inside another one is new.
                    let new = "\(node)\(waiter)"
                    graph.enter(new, inside: node, label: "\(node) to \(new)")
                    inner.append(new)
                    _ = graph.ask(1_000 + waiter, new, random.pick(nodes))
                default:
                    if let new = inner.randomElement(using: &random) { graph.leave(new) }
                }
                graph.checkInvariants()
            }
            for node in nodes + inner { graph.remove(node) }
            graph.checkInvariants()
            try #require(graph.isEmpty, "seed \(seed)")
        }
    }
}
