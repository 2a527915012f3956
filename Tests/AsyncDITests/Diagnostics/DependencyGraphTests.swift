import Foundation
import Testing

@testable import AsyncDI

private typealias Edge = DependencyGraph.Edge
private typealias Node = DependencyGraph.Node

/// Graphs as values.
@Suite(.timeLimit(.minutes(10))) struct DependencyGraphTests {
    private let small = DependencyGraph(
        [
            Node("Editor", lifetime: "graph", owner: "app", creations: 3),
            Node("Font", lifetime: "singleton", owner: "app", creations: 1),
            Node("Page", lifetime: "scoped", owner: "scope of app"),
        ],
        edges: [
            Edge(from: "Editor", to: "Page"), Edge(from: "Page", to: "Font"),
            Edge(from: "Font", to: "Editor", isDeferred: true), Edge(from: "Editor", to: "Page"),
        ])

    @Test func `nodes and edges are sorted and appear once`() {
        #expect(small.nodes == ["Editor", "Font", "Page"])
        #expect(
            small.edges == [
                Edge(from: "Editor", to: "Page"), Edge(from: "Font", to: "Editor", isDeferred: true),
                Edge(from: "Page", to: "Font"),
            ])
        #expect(small["Font"]?.lifetime == "singleton")
        #expect(small["Fond"] == nil)
        #expect(small.dependencies(of: "Editor") == ["Page"])
        let implied = DependencyGraph(edges: [Edge(from: "B", to: "A")])
        #expect(implied.nodes == ["A", "B"])
        #expect(DependencyGraph().nodes.isEmpty)
    }

    @Test func `a dependency that is needed at once and later is one edge, needed at once`() {
        let direct = Edge(from: "A", to: "B")
        let graph = DependencyGraph(edges: [Edge(from: "A", to: "B", isDeferred: true), direct])
        #expect(graph.edges == [direct])
        #expect(graph.dependencies(of: "A") == ["B"])
        #expect(graph.dependencies(of: "B") == [] && graph.dependencies(of: "C") == [])
    }

    @Test(arguments: 0..<50) func `nodes and edges are found by name`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let names = ["", "a", "b", "e\u{301}", "\u{e9}", "é", "🧑🏽‍🚀", "Z", "ß", "a b", "\n"]
        let edges = (0..<Int.random(in: 0...30, using: &random)).map { _ in
            Edge(from: names.randomElement(using: &random)!, to: names.randomElement(using: &random)!)
        }
        let graph = DependencyGraph(edges: edges)
        for name in names + ["c", "zz"] {
            #expect(graph[name] == graph.details.first { $0.name == name })
            #expect(graph.dependencies(of: name) == Set(edges.filter { $0.from == name }.map(\.to)).sorted())
        }
    }

    // MARK: Order

    @Test func `dependencies come first, deferred ones need not`() throws {
        #expect(try small.topologicalOrder() == ["Font", "Page", "Editor"])
        #expect(try DependencyGraph().topologicalOrder() == [])
    }

    @Test func `each node comes after its own dependencies, which need not be the first by name`() throws {
        let graph = DependencyGraph([Node("b")], edges: [Edge(from: "a", to: "c")])
        #expect(try graph.topologicalOrder() == ["c", "a", "b"])
    }

    @Test func `a value that scopes supply has no lifetime`() async throws {
        let container = Container(name: "app") {
            Registration(expected: Int.self)
            Registration(String.self, lifetime: .transient) { r in "\(try await r.resolve(Int.self))" }
        }
        let graph = try await container.declaredGraph()
        #expect(graph["Int"].map { $0.lifetime == nil } == true)
        #expect(graph["String"]?.lifetime == "transient")
    }

    @Test func `a cycle is an error that names it`() {
        let graph = DependencyGraph(edges: [
            Edge(from: "A", to: "B"), Edge(from: "B", to: "C"), Edge(from: "C", to: "B"),
        ])
        let error = #expect(throws: DependencyGraph.CycleError.self) { try graph.topologicalOrder() }
        #expect(error?.cycle == ["B", "C", "B"])
        #expect(
            error?.description == """
                no order puts dependencies first: B → C → B. Let one of them have the other later: through \
                .injectProperties, Lazy or Provider.
                """)
        let own = DependencyGraph(edges: [Edge(from: "A", to: "A")])
        #expect(#expect(throws: DependencyGraph.CycleError.self) { try own.topologicalOrder() }?.cycle == ["A", "A"])
    }

    @Test(arguments: 0..<200) func `random graphs are ordered, or have the cycle that is named`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let count = Int.random(in: 1...12, using: &random)
        let edges = (0..<Int.random(in: 0...20, using: &random)).map { _ in
            Edge(
                from: "\(Int.random(in: 0..<count, using: &random))", to: "\(Int.random(in: 0..<count, using: &random))"
            )
        }
        let graph = DependencyGraph((0..<count).map { Node("\($0)") }, edges: edges)
        do {
            let order = try graph.topologicalOrder()
            #expect(order.sorted() == graph.nodes)
            for edge in edges {
                let isFirst = order.firstIndex(of: edge.to)! < order.firstIndex(of: edge.from)!
                #expect(isFirst, "\(edge)")
            }
        } catch let error as DependencyGraph.CycleError {
            #expect(error.cycle.first == error.cycle.last && error.cycle.count > 1)
            for (from, to) in zip(error.cycle, error.cycle.dropFirst()) {
                #expect(edges.contains(Edge(from: from, to: to)))
            }
        }
    }

    // MARK: Exports

    @Test func `a graph is exported in DOT`() {
        #expect(
            small.dot() == """
                digraph AsyncDI {
                    graph [rankdir=LR, fontname="Helvetica", charset="UTF-8"];
                    node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];
                    edge [color="#555555"];
                    subgraph cluster_0 {
                        label="app";
                        style="rounded";
                        color="#AAAAAA";
                        n0 [label="Editor\\ngraph × 3", fillcolor="#FFF7D6"];
                        n1 [label="Font\\nsingleton", fillcolor="#D8E8FB"];
                    }
                    subgraph cluster_1 {
                        label="scope of app";
                        style="rounded";
                        color="#AAAAAA";
                        n2 [label="Page\\nscoped", fillcolor="#DDF3E4"];
                    }
                    n0 -> n2;
                    n1 -> n0 [style=dashed];
                    n2 -> n1;
                }

                """)
    }

    @Test func `a graph is exported in Mermaid`() {
        #expect(
            small.mermaid() == """
                flowchart LR
                    subgraph c0["app"]
                        n0["Editor<br/>graph × 3"]
                        n1["Font<br/>singleton"]
                    end
                    subgraph c1["scope of app"]
                        n2["Page<br/>scoped"]
                    end
                    n0 --> n2
                    n1 -.-> n0
                    n2 --> n1

                """)
    }

    @Test func `names of any kind survive every export`() throws {
        let names = ["say \"hi\"", "two\nlines", "back\\slash\\n", "🧑🏽‍🚀 é", "a#b;<c>&`d`", "tab\t\u{0}", "", "n0"]
        let edges = zip(names, names.dropFirst()).map { Edge(from: $0, to: $1) }
        let graph = DependencyGraph(names.map { Node($0, owner: $0) }, edges: edges)
        let dot = graph.dot()
        #expect(dot.contains(#"label="say \"hi\"""#))
        #expect(dot.contains(#"label="two\nlines""#))
        #expect(dot.contains(#"label="back\\slash\\n""#))
        #expect(dot.contains(#"label="🧑🏽‍🚀 é""#))
        #expect(dot.contains("label=\"tab\u{FFFD}\u{FFFD}\""))
        let mermaid = graph.mermaid()
        #expect(mermaid.contains(#"["say #34;hi#34;"]"#))
        #expect(mermaid.contains(#"["two<br/>lines"]"#))
        #expect(mermaid.contains(#"["a#35;b#59;#60;c#62;#38;#96;d#96;"]"#))
        #expect(mermaid.contains("🧑🏽‍🚀 é"))
        // No text breaks out of its line, and quotes are in pairs.
        for line in (dot + mermaid).split(separator: "\n") {
            let quotes = line.replacing("\\\\", with: "").replacing("\\\"", with: "").filter { $0 == "\"" }
            #expect(quotes.count.isMultiple(of: 2), "\(line)")
        }
        let data = try JSONEncoder().encode(graph)
        #expect(try JSONDecoder().decode(DependencyGraph.self, from: data) == graph)
    }

    @Test func `a graph is the same after being encoded`() throws {
        let graph = DependencyGraph(
            [
                Node(
                    "A", service: "A", lifetime: "weak", owner: "o", site: "M/F.swift:1", creations: 2, failures: 1,
                    duration: .milliseconds(1234))
            ], edges: [Edge(from: "A", to: "B", isDeferred: true)])
        let data = try JSONEncoder().encode(graph)
        #expect(try JSONDecoder().decode(DependencyGraph.self, from: data) == graph)
        #expect(Set([graph, graph]).count == 1)
    }

    @Test func `a graph that was written by hand is completed with the nodes that its edges name`() throws {
        let text = #"""
            {"details": [], "edges": [{"from": "A", "to": "B", "isDeferred": false},
             {"from": "A", "to": "B", "isDeferred": false}]}
            """#
        let graph = try JSONDecoder().decode(DependencyGraph.self, from: Data(text.utf8))
        #expect(graph.nodes == ["A", "B"] && graph.edges.count == 1)
        #expect(try graph.topologicalOrder() == ["B", "A"])
        #expect(graph.dot().contains("->") && graph.mermaid().contains("-->"))
        let entity = DependencyGraph([Node("&lt;", owner: "")])
        #expect(entity.dot().contains(#""&amp;lt;"#), "DOT draws entities")
        #expect(entity.mermaid().contains(#"subgraph c0[" "]"#), "a box needs a title")
    }

    @Test func `ten times as many nodes are exported and ordered in some ten times the time`() throws {
        func graph(_ count: Int) -> DependencyGraph {
            let nodes = (0..<count).map { Node("Service number \($0)", lifetime: "singleton", owner: "app") }
            let edges = (1..<count).flatMap { i in
                [i - 1, i / 2].map { Edge(from: "Service number \(i)", to: "Service number \($0)") }
            }
            return DependencyGraph(nodes, edges: edges)
        }
        let (small, large) = (graph(1_000), graph(10_000))
        for (name, export) in [
            ("dot", { $0.dot().utf8.count }), ("mermaid", { $0.mermaid().utf8.count }),
            ("order", { (try? $0.topologicalOrder())?.count ?? 0 }),
        ] as [(String, (DependencyGraph) -> Int)] {
            // The best of three, and a ratio: others share the machine.
            func best(_ graph: DependencyGraph) -> Duration {
                (0..<3).map { _ in processorTime { #expect(export(graph) >= 1_000) } }.min()!
            }
            let ratio = best(large) / best(small)
            // For each pair of nodes, it would be a hundred.
            #expect(ratio < 50, "\(name) took \(ratio) times as long")
        }
    }
}
