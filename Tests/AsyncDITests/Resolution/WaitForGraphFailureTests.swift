import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// The creations that fail together with one whose unfinished instance was given away.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphFailureTests {
    @Test func `a failure takes the held creations with it`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.fail("A") == ["B"])
        graph.checkInvariants()
        #expect(graph.isEmpty)
    }

    @Test func `a creation that still runs fails when it is done`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.fail("A").isEmpty)
        graph.checkInvariants()
        #expect(graph.settle("B") == .fail(because: "A"))
        #expect(graph.fail("B").isEmpty)
        #expect(graph.isEmpty)
    }

    @Test func `a failure reaches the dependent of a dependent`() {
        var graph = Graph()
        graph.made("A", "B", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .early)
        #expect(graph.settle("C") == .hold(["2 gets C"]))
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.ask(4, "X", "B") == .wait)
        #expect(graph.fail("A") == ["C", "B"])
        graph.checkInvariants()
        #expect(graph.isEmpty, "the outsider looks again")
    }

    @Test func `the first failure is the cause`() {
        var graph = Graph()
        graph.made("A", "B")
        #expect(graph.ask(1, "A", "C") == .wait)
        #expect(graph.ask(2, "C", "A") == .early)
        #expect(graph.ask(3, "B", "C") == .wait)
        #expect(graph.ask(4, "C", "B") == .early)
        #expect(graph.fail("A").isEmpty)
        #expect(graph.fail("B").isEmpty)
        graph.checkInvariants()
        #expect(graph.settle("C") == .fail(because: "A"))
        #expect(graph.fail("C").isEmpty)
        #expect(graph.isEmpty)
    }

    @Test func `a creation that was given a doomed creation's instance fails for the same cause`() {
        var graph = Graph()
        graph.made("A", "B")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.ask(3, "B", "C") == .wait)
        #expect(graph.ask(4, "C", "B") == .early)
        #expect(graph.fail("A").isEmpty)
        #expect(graph.settle("C") == .fail(because: "A"))
        #expect(graph.fail("C").isEmpty)
        #expect(graph.fail("B").isEmpty)
        #expect(graph.isEmpty)
    }

    @Test func `other held creations have nothing to do with a failure`() {
        var graph = hookOfAWaitsForB()
        graph.made("C")
        #expect(graph.ask(3, "C", "D") == .wait)
        #expect(graph.ask(4, "D", "C") == .early)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("D") == .hold(["3 gets D"]))
        #expect(graph.fail("C") == ["D"])
        graph.checkInvariants()
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `an ordinary waiter for a member does not fail with it`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.ask(3, "X", "A") == .wait)
        #expect(graph.fail("A").isEmpty)
        #expect(graph.settle("X") == .complete(["X"]))
        #expect(graph.settle("B") == .fail(because: "A"))
        #expect(graph.fail("B").isEmpty)
        #expect(graph.isEmpty)
    }
}
