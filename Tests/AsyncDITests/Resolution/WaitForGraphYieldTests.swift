import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// Waits that end early where they would be part of a cycle.
@Suite(.timeLimit(.minutes(10))) struct WaitForGraphYieldTests {
    /// Waits with a number from 100 on yield.
    private var graph = Graph(yields: { $0 >= 100 })

    @Test mutating func `a wait that yields is an ordinary one outside every cycle`() {
        #expect(graph.ask(100, "A", "B") == .wait)
        #expect(graph.ask(1, "C", "A") == .wait)
        #expect(graph.places[100] != nil)
    }

    @Test mutating func `a request that closes a cycle waits, and the wait that yields ends`() {
        #expect(graph.ask(100, "A", "B") == .wait)
        #expect(graph.ask(1, "B", "A") == .release(["100 yields"]))
        #expect(graph.places[100] == nil)
        #expect(graph.places[1] != nil)
    }

    @Test mutating func `a cycle in which no wait yields is refused beside one that would be opened`() {
        #expect(graph.ask(100, "A", "B") == .wait)
        #expect(graph.ask(1, "A", "C") == .wait)
        #expect(graph.ask(2, "C", "B") == .wait)
        #expect(graph.ask(3, "B", "A") == .cycle(["A to C", "C to B"]))
        // It has kept waiting.
        #expect(graph.places[100] != nil)
        graph.withdraw(2)
        #expect(graph.ask(4, "B", "A") == .release(["100 yields"]))
    }

    @Test mutating func `every cycle that the request closes is opened`() {
        #expect(graph.ask(100, "A", "B") == .wait)
        #expect(graph.ask(1, "A", "C") == .wait)
        #expect(graph.ask(101, "C", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .release(["100 yields", "101 yields"]))
    }

    @Test mutating func `a wait that would close the cycle itself is refused`() {
        #expect(graph.ask(1, "B", "A") == .wait)
        #expect(graph.ask(100, "A", "B") == .cycle(["B to A"]))
    }
}
