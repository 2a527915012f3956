import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// Cycles with a disposal, which waits for the end of every creation in its container: an unfinished instance does not
/// open all of them.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphDisposalTests {
    /// A graph with a disposal that waits for these creations, and one of an instance whose hook waits as others do.
    private func graph(disposing inside: String...) -> Graph {
        Graph(
            outer: { inside.contains($0) ? ["disposal"] : [] },
            kind: { $0.hasPrefix("disposal") ? .disposal : $0.hasPrefix("body") ? .body : .creation })
    }

    /// The container of A is disposed; B, which is being created, waits for a creation that waits for that.
    private func hookOfBWaitsForTheDisposalOfA() -> Graph {
        var graph = graph(disposing: "A")
        graph.made("B")
        #expect(graph.ask(1, "B", "C") == .wait)
        #expect(graph.ask(2, "C", "disposal") == .wait)
        return graph
    }

    @Test func `an instance that can never be complete is not given to a creation that is waited for`() {
        var graph = hookOfBWaitsForTheDisposalOfA()
        #expect(graph.ask(3, "A", "B") == .cycle(["B to C", "C to disposal"]))
        graph.made("A")
        #expect(graph.ask(4, "A", "B") == .cycle(["B to C", "C to disposal"]))
    }

    @Test func `a wait for the disposal is refused when a creation there was given the waiter's instance`() {
        var graph = graph(disposing: "A")
        graph.made("B")
        #expect(graph.ask(1, "B", "A") == .wait)
        #expect(graph.ask(2, "A", "B") == .early, "B and A are an ordinary cycle")
        #expect(graph.ask(3, "B", "disposal") == .cycle([]), "the disposal waits for A, and A's end for B's")
        #expect(graph.ask(4, "B", "C") == .wait)
        #expect(graph.ask(5, "C", "disposal") == .cycle(["B to C"]))
        #expect(graph.settle("A") == .hold(["1 gets A"]))
    }

    @Test func `the wait is refused too when the creation holds that instance through another one`() {
        var graph = graph(disposing: "A")
        graph.made("B", "H")
        #expect(graph.ask(1, "B", "H") == .wait)
        #expect(graph.ask(2, "H", "B") == .early)
        #expect(graph.ask(3, "H", "A") == .wait)
        #expect(graph.ask(4, "A", "H") == .early)
        #expect(graph.ask(5, "B", "C") == .wait)
        #expect(graph.ask(6, "C", "disposal") == .cycle(["B to C"]))
    }

    @Test func `a hook of a disposal gets an unfinished instance, and the disposal goes on`() {
        var graph = graph(disposing: "A")
        graph.made("B", "D")
        #expect(graph.ask(1, "D", "disposal") == .wait)
        #expect(graph.ask(2, "disposal of X", "D") == .wait)
        #expect(graph.ask(3, "B", "disposal of X") == .wait)
        #expect(graph.ask(4, "A", "B") == .release(["2 gets D"]))
        graph.remove("disposal of X")
        #expect(graph.settle("B") == .complete(["B"]))
        #expect(graph.settle("A") == .complete(["A"]))
        graph.remove("disposal")
        #expect(graph.settle("D") == .complete(["D"]))
        #expect(graph.isEmpty)
    }

    @Test func `a hook of a disposal gets an unfinished instance when the end of a held creation closes the cycle`() {
        var graph = graph(disposing: "A")
        graph.made("B", "D")
        #expect(graph.ask(1, "B", "A") == .wait)
        #expect(graph.ask(2, "A", "B") == .early, "B and A are an ordinary cycle")
        graph.withdraw(1)
        #expect(graph.ask(3, "B", "disposal of X") == .wait)
        #expect(graph.ask(4, "C", "disposal") == .wait)
        #expect(graph.ask(5, "D", "C") == .wait)
        #expect(graph.ask(6, "disposal of X", "D") == .wait, "A may still end without B's end")
        #expect(graph.settle("A") == .hold(["6 gets D"]))
        graph.remove("disposal of X")
        #expect(graph.settle("B") == .complete(["A", "B"]))
        graph.remove("disposal")
        #expect(graph.settle("C") == .complete(["C"]))
        #expect(graph.settle("D") == .complete(["D"]))
        #expect(graph.isEmpty)
    }

    @Test func `the body of a lease gets an unfinished instance: its end waits for no group`() {
        var graph = Graph(
            outer: { $0 == "body" ? ["disposal"] : [] },
            kind: { $0 == "disposal" ? .disposal : $0 == "body" ? .body : .creation })
        graph.made("B")
        #expect(graph.ask(1, "B", "disposal") == .wait)
        #expect(graph.ask(2, "body", "B") == .early)
        graph.dissolve("body", into: nil)
        graph.remove("disposal")
        #expect(graph.settle("B") == .complete(["B"]))
        #expect(graph.isEmpty)
    }

    @Test func `the body of a lease gets no unfinished instance when a creation around it is waited for`() {
        var graph = graph(disposing: "A")
        graph.enter("body", inside: "A", label: "in A")
        graph.made("B")
        #expect(graph.ask(1, "B", "disposal") == .wait)
        #expect(graph.ask(2, "body", "B") == .cycle(["B to disposal", "in A"]))
    }
}
