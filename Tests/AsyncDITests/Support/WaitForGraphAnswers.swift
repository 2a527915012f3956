import Testing

@testable import AsyncDI

/// The result of a request, as a value to compare: releases are sorted, because their order is irrelevant.
enum WaitAnswer: Equatable {
    case wait
    case release([String])
    case early
    case cycle([String])
}

/// The result of settling, as a value to compare.
enum SettleAnswer: Equatable {
    case complete([String])
    case hold([String])
    case fail(because: String)
}

private func list(_ releasing: [(waiter: Int, early: String?)]) -> [String] {
    releasing.map { "\($0.waiter) \($0.early.map { "gets \($0)" } ?? "yields")" }.sorted()
}

extension WaitForGraph<String, Int, String> {
    /// Asks with the label "asker to target".
    mutating func ask(_ waiter: Int, _ asker: String, _ target: String) -> WaitAnswer {
        defer { checkInvariants() }
        switch ask(waiter, from: asker, label: "\(asker) to \(target)", for: target) {
        case .wait(let releasing): return releasing.isEmpty ? .wait : .release(list(releasing))
        case .takeEarly: return .early
        case .cycle(let labels): return .cycle(labels)
        }
    }

    mutating func settle(_ node: String) -> SettleAnswer {
        defer { checkInvariants() }
        switch ownWorkDone(node) {
        case .complete(let nodes): return .complete(nodes)
        case .hold(let releasing): return .hold(list(releasing))
        case .fail(let cause): return .fail(because: cause)
        }
    }

    mutating func made(_ nodes: String...) {
        for node in nodes { instanceMade(by: node) }
        checkInvariants()
    }
}

/// A is created, its hook waits for B, whose factory requests A.
func hookOfAWaitsForB() -> WaitForGraph<String, Int, String> {
    var graph = WaitForGraph<String, Int, String>()
    graph.made("A")
    #expect(graph.ask(1, "A", "B") == .wait)
    #expect(graph.ask(2, "B", "A") == .early)
    return graph
}
