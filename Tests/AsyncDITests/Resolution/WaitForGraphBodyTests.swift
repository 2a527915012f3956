import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// A node that ends before the one that it is inside: its calls and instances are the other one's from then on.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphBodyTests {
    @Test func `a call that outlives its node closes a cycle through the node around it`() {
        var graph = Graph()
        graph.enter("body", inside: "A", label: "in A")
        #expect(graph.ask(1, "body", "B") == .wait)
        graph.dissolve("body", into: "A")
        graph.checkInvariants()
        guard case .cycle = graph.ask(2, from: "B", label: "B", for: "A") else {
            Issue.record("B would wait for A, which waits for B")
            return
        }
        graph.remove("A")
        graph.remove("B")
        #expect(graph.isEmpty)
    }

    @Test func `a node inside the one that ends is inside the one around it`() {
        var graph = Graph()
        graph.enter("body", inside: "A", label: "in A")
        graph.enter("C", inside: "body", label: "in body")
        graph.dissolve("body", into: "A")
        graph.checkInvariants()
        #expect(graph.ask(1, "C", "B") == .wait)
        guard case .cycle = graph.ask(2, from: "B", label: "B", for: "A") else {
            Issue.record("B would wait for A, which waits for C, which waits for B")
            return
        }
        graph.leave("C")
        graph.checkInvariants()
    }

    @Test func `an unfinished instance that it was given makes the node around it fail with its maker`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "A", "B") == .wait)
        graph.enter("body", inside: "B", label: "in B")
        #expect(graph.ask(2, "body", "A") == .early)
        graph.dissolve("body", into: "B")
        graph.checkInvariants()
        #expect(graph.fail("A").isEmpty)
        #expect(graph.settle("B") == .fail(because: "A"))
        #expect(graph.fail("B").isEmpty)
        #expect(graph.isEmpty)
    }

    @Test func `a node that is inside none leaves nothing`() {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "body", "B") == .wait)
        graph.dissolve("body", into: nil)
        graph.checkInvariants()
        graph.remove("A")
        #expect(graph.isEmpty)
    }
}
