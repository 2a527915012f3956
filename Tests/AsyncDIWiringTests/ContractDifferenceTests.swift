import AsyncDI
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@testable import AsyncDIWiring

/// The messages about a graph that is not as its contract says.
@Suite(.timeLimit(.minutes(10))) struct ContractDifferenceTests {
    private func node(_ name: String, _ lifetime: String?, _ line: Int) -> DependencyGraph.Node {
        DependencyGraph.Node(name, lifetime: lifetime, owner: "app", site: "App/A.swift:\(line)")
    }

    @Test func `each difference has the line of its registration`() {
        let kept = DependencyGraph([node("A", "graph", 1), node("B", nil, 2)], edges: [.init(from: "A", to: "B")])
        let changed = DependencyGraph([node("A", "weak", 3), node("C", nil, 4)], edges: [.init(from: "A", to: "C")])
        let diagnostic = WiringDiagnostic(changed.difference(from: kept), fromContract: "w.json")
        #expect(
            diagnostic.lines.dropFirst() == [
                "App/A.swift:4: note: + C (in app)", "note: - B (in app)", "App/A.swift:3: note: ~ A: graph → weak",
                "note: + A → C", "note: - A → B",
            ])
    }

    @Test func `ten times as many new registrations take some ten times the time`() {
        // The best of three, and a ratio: others share the machine.
        func best(_ count: Int) -> Duration {
            let names = (0..<count).map { "Service\($0)" }
            let large = DependencyGraph(
                names.enumerated().map { node($1, "graph", $0) },
                edges: zip(names, names.dropFirst()).map { DependencyGraph.Edge(from: $0, to: $1) })
            let difference = large.difference(from: DependencyGraph())
            return (0..<3).map { _ in
                processorTime {
                    #expect(WiringDiagnostic(difference, fromContract: "w.json").notes.count == 2 * count - 1)
                }
            }
            .min()!
        }
        let ratio = best(3_000) / best(300)
        // For each pair of registrations, it would be a hundred.
        #expect(ratio < 50, "took \(ratio) times as long")
    }
}

/// The processor time that a synchronous body takes, without that of the code that interrupts it.
private func processorTime(_ body: () -> Void) -> Duration {
    func used() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int(time.tv_sec)) + .nanoseconds(Int(time.tv_nsec))
    }
    let start = used()
    body()
    return used() - start
}
