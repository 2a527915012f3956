import Testing

@testable import AsyncDI

private typealias Graph = WaitForGraph<String, Int, String>

/// What an ask leads to, as a value to compare: releases are sorted, because their order means nothing.
private enum Answer: Equatable {
    case wait
    case release([String])
    case early
    case cycle([String])
}

/// What settling leads to, as a value to compare.
private enum Settled: Equatable {
    case complete([String])
    case hold([String])
    case fail(because: String)
}

private func list(_ releasing: [(waiter: Int, early: String)]) -> [String] {
    releasing.map { "\($0.waiter) gets \($0.early)" }.sorted()
}

extension WaitForGraph<String, Int, String> {
    /// Asks with the label "asker to target".
    fileprivate mutating func ask(_ waiter: Int, _ asker: String, _ target: String) -> Answer {
        defer { checkInvariants() }
        switch ask(waiter, from: asker, label: "\(asker) to \(target)", for: target) {
        case .wait(let releasing): return releasing.isEmpty ? .wait : .release(list(releasing))
        case .takeEarly: return .early
        case .cycle(let labels): return .cycle(labels)
        }
    }

    fileprivate mutating func settle(_ node: String) -> Settled {
        defer { checkInvariants() }
        switch ownWorkDone(node) {
        case .complete(let nodes): return .complete(nodes)
        case .hold(let releasing): return .hold(list(releasing))
        case .fail(let cause): return .fail(because: cause)
        }
    }

    fileprivate mutating func made(_ nodes: String...) {
        for node in nodes { instanceMade(by: node) }
        checkInvariants()
    }
}

/// Who waits for whom, one event at a time.
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

    @Test func `a creation that waits for nobody and was given nothing early is complete at once`() {
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

    @Test func `a creation waits for those that run in its task`() {
        var graph = Graph()
        graph.enter("B", inside: "A", label: "A to B")
        graph.checkInvariants()
        #expect(graph.ask(1, "B", "A") == .cycle(["A to B"]))
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .cycle(["A to B", "B to C"]))
        #expect(graph.ask(4, "C", "B") == .cycle(["B to C"]))
    }

    @Test func `those inside do not wait for who is around them`() {
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

    // MARK: Early instances

    /// A is made, its hook waits for B, whose factory asks for A.
    private func hookOfAWaitsForB() -> Graph {
        var graph = Graph()
        graph.made("A")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        return graph
    }

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

    @Test func `A's hook asks for B when B is held already`() {
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

    @Test func `both through hooks: whoever comes second gets the first`() {
        var graph = Graph()
        graph.made("A", "B")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "A") == .early)
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.settle("A") == .complete(["B", "A"]))
        #expect(graph.isEmpty)
    }

    @Test func `outside a cycle nobody gets an unfinished instance`() {
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
    func `three hooks in a ring, ending in any order`(order: [String]) {
        var graph = Graph()
        graph.made("A", "B", "C")
        #expect(graph.ask(1, "A", "B") == .wait)
        #expect(graph.ask(2, "B", "C") == .wait)
        #expect(graph.ask(3, "C", "A") == .early)
        // What C and then B are given ends the waits one after the other.
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

    @Test func `three hooks in a ring, each with others to wait for as well`() {
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

    @Test func `when one of the paths cannot be opened nobody is released`() {
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
        // M has given nothing away: it and T complete by themselves.
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

    @Test func `one cycle that holds another one waits for it, not the other way round`() {
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

    @Test func `a task that outlives its creation cannot make the group wait for ever`() {
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

    // MARK: Failing together

    @Test func `a failure takes the held ones with it`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.settle("B") == .hold(["1 gets B"]))
        #expect(graph.fail("A") == ["B"])
        graph.checkInvariants()
        #expect(graph.isEmpty)
    }

    @Test func `who still runs fails when it is done`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.fail("A").isEmpty)
        graph.checkInvariants()
        #expect(graph.settle("B") == .fail(because: "A"))
        #expect(graph.fail("B").isEmpty)
        #expect(graph.isEmpty)
    }

    @Test func `failure reaches who was given an instance of one that was given one`() {
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

    @Test func `who is doomed and fails by itself takes its own with it`() {
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

    @Test func `others that are held have nothing to do with a failure`() {
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

    @Test func `who waits for a member in the ordinary way does not fail with it`() {
        var graph = hookOfAWaitsForB()
        #expect(graph.ask(3, "X", "A") == .wait)
        #expect(graph.fail("A").isEmpty)
        #expect(graph.settle("X") == .complete(["X"]))
        #expect(graph.settle("B") == .fail(because: "A"))
        #expect(graph.fail("B").isEmpty)
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
                    // As in life, what runs inside another one is new.
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
