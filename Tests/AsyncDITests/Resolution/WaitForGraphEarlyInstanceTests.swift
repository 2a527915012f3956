import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// Unfinished instances that are given early, and the creations that are held until they are finished.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphEarlyInstanceTests {
    @Test func `A's hook asks for B, whose factory is given A early; B is held until A is done`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `B's factory waits for A when A's hook asks for B: B is given A`() {
        var graph = Graph()
        #expect(graph.ask(1, "B", "A") == .wait)
        graph.made("A")
        #expect(graph.ask(2, "A", "B") == .release(["1 gets A"]))
        #expect(graph.settle("B") == .hold(["2 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `A's hook gets B early when B is held already`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "A", "X") == .wait)
        #expect(graph.ask(2, "X", "B") == .wait)
        #expect(graph.ask(3, "B", "A") == .early)
        #expect(graph.settle("B") == .hold(["2 gets B"]), "X must go on, for A waits for it")
        #expect(graph.settle("X") == .hold(["1 gets X"]))
        #expect(graph.ask(4, "A", "B") == .early)
        #expect(graph.settle("A") == .complete(["B", "X", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a hook that asks for its own instance gets it`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "A", "A") == .early)
        #expect(graph.settle("A") == .complete(["A"]))
        #expect(graph.isEmpty)
    }

    @Test func `both through hooks: the second creation gets the instance of the first`() {
        var graph = Graph()
        graph.made("A", "B")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `outside a cycle no request gets an unfinished instance`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "X", "A") == .wait)
        #expect(graph.ask(2, "A", "B") == .wait)
        #expect(graph.ask(3, "Y", "B") == .wait)
    }

    @Test func `an outsider waits until the whole group is complete`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.ask(3, "X", "B") == .wait)
        #expect(graph.settle("B") == .hold(["1 gets B"]), "the outsider is not released")
        #expect(graph.ask(4, "Y", "B") == .wait)
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `an outsider that the cycle comes to need is let in`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.ask(3, "X", "B") == .wait)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.ask(4, "A", "X") == .release(["3 gets B"]))
        #expect(graph.settle("X") == .hold(["4 gets X"]))
        #expect(graph.settle("A") == .complete(["B", "X", "A"]))
        #expect(graph.isEmpty)
    }

    @Test(arguments: [
        ["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"], ["B", "C", "A"], ["C", "A", "B"], ["C", "B", "A"],
    ])
    func `three hooks in a ring are complete when the last one ends, in any order`(order: [String]) {
        var graph = Graph()
        graph.made("A", "B", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .early)
        // The instances given to C and then to B end the waits one after the other.
        #expect(graph.settle("C") == .hold(["2 gets C"]))
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["C", "B", "A"]))
        #expect(graph.isEmpty)

        // The same ring with all three given early: they may end in any order.
        graph.made("A", "B", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .early)
        #expect(graph.ask(4, "C", "B") == .early)
        #expect(graph.ask(5, "B", "A") == .early)
        graph.withdraw(1)
        graph.withdraw(2)
        graph.checkInvariants()
        let ends = order.map { graph.settle($0) }
        #expect(ends.last.map { if case .complete(let group) = $0 { group.last == order.last } else { false } } == true)
        #expect(graph.isEmpty)
    }

    @Test func `three hooks in a ring that wait for others as well are complete together`() {
        var graph = Graph()
        graph.made("A", "B", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "A", "D") == .wait)
        #expect(graph.ask(3, "B", "C") == .wait)
        #expect(graph.ask(4, "C", "D") == .wait)
        #expect(graph.ask(5, "C", "A") == .early)
        #expect(graph.settle("D") == .complete(["D"]))
        #expect(graph.settle("C") == .hold(["3 gets C"]))
        #expect(graph.ask(6, "B", "E") == .wait)
        #expect(graph.ask(7, "E", "C") == .early)
        #expect(graph.settle("E") == .hold(["6 gets E"]))
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["C", "E", "B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `all child tasks that wait for the opened creation are released`() {
        var graph = Graph()
        #expect(graph.ask(1, "B", "A") == .wait)
        #expect(graph.ask(2, "B", "A") == .wait)
        #expect(graph.ask(3, "B", "C") == .wait)
        graph.made("A")
        #expect(graph.ask(4, "A", "B") == .release(["1 gets A", "2 gets A"]))
        #expect(graph.settle("C") == .complete(["C"]))
        #expect(graph.settle("B") == .hold(["4 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a request that closes several cycles opens all of them`() {
        var graph = Graph()
        #expect(graph.ask(1, "B", "A") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .wait)
        graph.made("A")
        #expect(graph.ask(4, "A", "B") == .release(["1 gets A", "3 gets A"]))
        #expect(graph.settle("C") == .hold(["2 gets C"]), "B's own request for C is in the cycle as well")
        #expect(graph.settle("B") == .hold(["4 gets B"]))
        #expect(graph.settle("A") == .complete(["C", "B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `when one of the paths cannot be opened no waiter is released`() {
        var graph = Graph()
        graph.made("M")
        // T waits for X in two ways: through M, whose instance there is, and through N, whose instance there is not.
        #expect(graph.ask(1, "T", "M") == .wait)
        #expect(graph.ask(2, "M", "X") == .wait)
        #expect(graph.ask(3, "T", "N") == .wait)
        #expect(graph.ask(4, "N", "O") == .wait)
        #expect(graph.ask(5, "O", "X") == .wait)
        #expect(graph.ask(6, "X", "T") == .cycle(["T to N", "N to O", "O to X"]))
        #expect(graph.settle("X") == .complete(["X"]))
        // M has given no instance away: it and T complete by themselves.
        #expect(graph.settle("M") == .complete(["M"]))
        #expect(graph.settle("O") == .complete(["O"]))
        #expect(graph.settle("N") == .complete(["N"]))
        #expect(graph.settle("T") == .complete(["T"]))
        #expect(graph.isEmpty)
    }

    @Test func `two cycles that share a creation complete together`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "A", "C") == .wait)
        #expect(graph.ask(3, "B", "A") == .early)
        #expect(graph.ask(4, "C", "A") == .early)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.ask(5, "X", "B") == .wait)
        #expect(graph.settle("C") == .hold(["2 gets C"]))
        #expect(graph.settle("A") == .complete(["B", "C", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `two interlocking cycles wait for each other`() {
        var graph = Graph()
        graph.made("A", "C")
        // A and B, C and D; and B needs C's ring, D needs A's.
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "D", "C") == .early)
        #expect(graph.ask(5, "B", "C") == .wait)
        #expect(graph.ask(6, "D", "A") == .early)
        #expect(graph.settle("D") == .hold(["3 gets D"]))
        #expect(graph.settle("C") == .hold(["5 gets C"]), "D holds A, which is not done")
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["D", "C", "B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a cycle that holds another cycle waits for it, not the other way around`() {
        var graph = Graph()
        graph.made("A", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "D", "C") == .early)
        #expect(graph.ask(5, "B", "D") == .wait, "B is no member of the ring of C and D")
        #expect(graph.settle("D") == .hold(["3 gets D"]))
        #expect(graph.settle("C") == .complete(["D", "C"]))
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a group completes while another one is still held`() {
        var graph = Graph()
        graph.made("A", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "D", "C") == .early)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("X") == .complete(["X"]), "who has nothing to do with it is not held up")
        #expect(graph.settle("D") == .hold(["3 gets D"]))
        #expect(graph.settle("C") == .complete(["D", "C"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a creation inside another one is part of the cycle of its outer one`() {
        var graph = Graph()
        graph.made("A")
        graph.enter("B", inside: "A", label: "A to B")
        #expect(graph.ask(1, "B", "A") == .early)
        #expect(graph.settle("B") == .hold([]))
        #expect(graph.ask(2, "A", "B") == .early, "A's task asks again for what it made")
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a request of a creation that is held is not part of any cycle`() {
        var graph = hookOfAWaitsForB()
        // A task that outlives B's factory still waits for X.
        #expect(graph.ask(3, "B", "X") == .wait)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.ask(4, "X", "B") == .wait, "B does not need X to be complete: X is an outsider")
        #expect(graph.ask(5, "B", "A") == .wait, "and such a task waits as anybody outside does")
        graph.withdraw(3)
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `a task that outlives its creation cannot make the group wait forever`() {
        var graph = hookOfAWaitsForB()
        graph.made("T")
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.ask(3, "X", "B") == .wait)
        #expect(graph.ask(4, "T", "X") == .wait)
        // Given T now, B would wait for T, T for X and X for B.
        #expect(graph.ask(5, "B", "T") == .wait)
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.settle("X") == .complete(["X"]))
        #expect(graph.settle("T") == .complete(["T"]))
        #expect(graph.isEmpty)
    }
}
