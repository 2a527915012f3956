import Foundation
import Testing

@testable import AsyncDI

private typealias Edge = DependencyGraph.Edge
private typealias Node = DependencyGraph.Node

private struct Font: Sendable {}
private struct Ink: Sendable {}
private struct Page: Sendable {
    let font: Font
}
private struct Editor: Sendable {
    let page: Page
    let ink: Lazy<Ink>
}
protocol ContractPlugin: Sendable {}
private struct Speller: ContractPlugin {
    let font: Font
}
private struct WordCount: ContractPlugin {
    let ink: Ink
}
private struct Shelf: Sendable {
    let plugins: [any ContractPlugin]
}

/// Declared graphs as files that are kept and compared.
@Suite(.timeLimit(.minutes(10))) struct GraphContractTests {
    private func graph(_ registrations: [Registrations], name: String? = "app") async throws -> DependencyGraph {
        let container = Container(name: name) {
            for part in registrations { part }
        }
        return try await container.declaredGraph()
    }

    private func part(@RegistrationBuilder _ registrations: () -> Registrations) -> Registrations { registrations() }

    private var parts: [Registrations] {
        [
            part { Registration(using: Editor.init) },
            part { Registration(using: Page.init, lifetime: .scoped) },
            part { Registration(Font.self, lifetime: .singleton) { _ in Font() } },
            part { Registration(Ink.self) { _ in Ink() }.dependencies() },
            part { Registration(using: Shelf.init) },
        ]
    }

    private func speller(line: UInt) -> Registrations {
        part {
            Registration(using: Speller.init, as: (any ContractPlugin).self, fileID: "App/Plugins.swift", line: line)
                .intoMany()
        }
    }

    private func counter(line: UInt) -> Registrations {
        part {
            Registration(using: WordCount.init, as: (any ContractPlugin).self, fileID: "App/Plugins.swift", line: line)
                .intoMany()
        }
    }

    // MARK: JSON

    @Test func `a contract does not depend on the order of registrations, nor on their lines`() async throws {
        let first = try await graph(parts + [speller(line: 1), counter(line: 2)])
        let second = try await graph(Array((parts + [speller(line: 9), counter(line: 8)]).reversed()))
        #expect(first != second)
        #expect(first.contract.json() == second.contract.json())
        #expect(first.contract.contract == first.contract)
        #expect(
            first.contract.json() == """
                {
                  "details": [
                    {"name": "ContractPlugin #1", "service": "ContractPlugin", "lifetime": "graph", "owner": "app"},
                    {"name": "ContractPlugin #2", "service": "ContractPlugin", "lifetime": "graph", "owner": "app"},
                    {"name": "Editor", "lifetime": "graph", "owner": "app"},
                    {"name": "Font", "lifetime": "singleton", "owner": "app", "isOpaque": true},
                    {"name": "Ink", "lifetime": "graph", "owner": "app"},
                    {"name": "Page", "lifetime": "scoped", "owner": "app"},
                    {"name": "Shelf", "lifetime": "graph", "owner": "app"},
                    {"name": "[ContractPlugin]"}
                  ],
                  "edges": [
                    {"from": "ContractPlugin #1", "to": "Font"},
                    {"from": "ContractPlugin #2", "to": "Ink"},
                    {"from": "Editor", "to": "Ink", "isDeferred": true},
                    {"from": "Editor", "to": "Page"},
                    {"from": "Page", "to": "Font"},
                    {"from": "Shelf", "to": "[ContractPlugin]"},
                    {"from": "[ContractPlugin]", "to": "ContractPlugin #1"},
                    {"from": "[ContractPlugin]", "to": "ContractPlugin #2"}
                  ]
                }

                """)
    }

    /// Nodes that are called alike and are the same for their neighbors: rings of different lengths, in this order.
    private func rings(_ lengths: [Int], order: [Int]) -> DependencyGraph {
        let nodes = order.indices.map {
            Node("Peer #\($0 + 1)", service: "Peer", lifetime: "singleton", owner: "app")
        }
        var edges: [Edge] = []
        var begin = 0
        for length in lengths {
            for place in 0..<length {
                let next = begin + (place + 1) % length
                edges.append(Edge(from: nodes[order[begin + place]].name, to: nodes[order[next]].name))
            }
            begin += length
        }
        return DependencyGraph(nodes, edges: edges)
    }

    @Test(arguments: [[1, 2], [6, 3, 3], [2, 1, 4, 2, 3], [1, 1, 12, 5]])
    func `a contract does not depend on the order of registrations that only their cycles tell apart`(
        lengths: [Int]
    ) {
        var random = SeededRandom(seed: 1)
        let places = Array(0..<lengths.reduce(0, +))
        let contract = rings(lengths, order: places).contract
        for _ in 0..<50 {
            let graph = rings(lengths, order: places.shuffled(using: &random))
            #expect(graph.contract == contract)
            #expect(graph.difference(from: contract).isEmpty)
        }
        #expect(contract.contract == contract)
    }

    @Test func `very many registrations that only their cycles tell apart have a contract`() {
        let lengths = [1, 2, 3, 500]
        let graph = rings(lengths, order: Array(0..<506))
        #expect(graph.contract.edges.count == 506)
    }

    @Test(arguments: 0..<100) func `the JSON of any graph is read again as the same graph`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let names = ["", "a", "\"b\\", "é🧑🏽‍🚀", "tab\t\u{0}\u{7F}\r\n\u{2028}", "/</script>", "null"]
        let nodes = names.filter { _ in random.chance(0.7) }.map { name in
            Node(
                name, service: random.pick(names), lifetime: random.chance(0.5) ? random.pick(names) : nil,
                owner: random.chance(0.5) ? random.pick(names) : nil,
                site: random.chance(0.5) ? random.pick(names) : nil, creations: random.below(3),
                failures: random.below(3),
                duration: random.chance(0.5) ? .zero : .seconds(random.below(100)) - .nanoseconds(random.below(100)),
                isOpaque: random.chance(0.5))
        }
        let edges = (0..<random.below(9)).map { _ in
            Edge(from: random.pick(names), to: random.pick(names), isDeferred: random.chance(0.5))
        }
        let graph = DependencyGraph(nodes, edges: edges)
        #expect(try JSONDecoder().decode(DependencyGraph.self, from: Data(graph.json().utf8)) == graph)
        #expect(try JSONDecoder().decode(DependencyGraph.self, from: JSONEncoder().encode(graph)) == graph)
    }

    @Test func `registrations that differ only two edges away keep their names when they change places`() async throws {
        // Two services that are called alike, each with a plugin of its own: what the plugins need tells them apart.
        enum First {
            struct Step: Sendable { let font: Font }
            struct Plugin: ContractPlugin { let step: Step }
        }
        enum Second {
            struct Step: Sendable { let ink: Ink }
            struct Plugin: ContractPlugin { let step: Step }
        }
        func plugins(_ lines: [UInt]) -> [Registrations] {
            let file = "App/Plugins.swift"
            let service = (any ContractPlugin).self
            return [
                part { Registration(using: First.Plugin.init, as: service, fileID: file, line: lines[0]).intoMany() },
                part { Registration(using: Second.Plugin.init, as: service, fileID: file, line: lines[1]).intoMany() },
                part { Registration(using: First.Step.init, fileID: file, line: lines[2]) },
                part { Registration(using: Second.Step.init, fileID: file, line: lines[3]) },
            ]
        }
        let first = try await graph(parts + plugins([1, 2, 3, 4]))
        for lines: [UInt] in [[2, 1, 3, 4], [1, 2, 4, 3], [2, 1, 4, 3], [9, 1, 2, 8]] {
            let other = try await graph(plugins(lines).reversed() + parts)
            #expect(other.contract.json() == first.contract.json())
            #expect(other.difference(from: first).isEmpty)
        }
    }

    @Test(arguments: 0..<200) func `however nodes are numbered, the contract is the same`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let services = ["A", "B", "C"]
        let count = 3 + random.below(4)
        // Pairs, chains and whatever else comes about, of nodes that only their edges tell apart.
        let ends = (0..<(2 + random.below(3 * count))).map { _ in
            (random.below(3), random.below(count), random.below(3), random.below(count), random.chance(0.2))
        }
        func graph(_ numbers: [[Int]]) -> DependencyGraph {
            let nodes = (0..<3).flatMap { service in
                (0..<count).map { number in
                    Node(
                        "\(services[service]) #\(numbers[service][number] + 1)", service: services[service],
                        owner: "app")
                }
            }
            func name(_ service: Int, _ number: Int) -> String { nodes[service * count + number].name }
            return DependencyGraph(
                nodes, edges: ends.map { Edge(from: name($0.0, $0.1), to: name($0.2, $0.3), isDeferred: $0.4) })
        }
        let plain = graph((0..<3).map { _ in Array(0..<count) })
        for _ in 0..<5 {
            let other = graph((0..<3).map { _ in (0..<count).shuffled(using: &random) })
            #expect(other.contract.json() == plain.contract.json())
            #expect(other.difference(from: plain).isEmpty)
        }
    }

    @Test func `many nodes that are alike, in pairs, keep together`() {
        let count = 60
        func graph(_ shift: Int) -> DependencyGraph {
            let nodes = (0..<count).flatMap { number in
                [
                    Node("A #\(number)", service: "A", owner: "app"), Node("B #\(number)", service: "B", owner: "app"),
                    Node("C #\(number)", service: "C", owner: "app"),
                ]
            }
            let edges = (0..<count).flatMap { number in
                [
                    Edge(from: "A #\(number)", to: "B #\((number + shift) % count)"),
                    Edge(from: "All", to: "C #\(number)"),
                ]
            }
            return DependencyGraph(nodes, edges: edges)
        }
        #expect(graph(0).contract.json() == graph(7).contract.json())
        #expect(graph(7).difference(from: graph(0)).isEmpty)
    }

    // MARK: Differences

    @Test func `equal graphs have no difference, wherever their registrations stand`() async throws {
        let first = try await graph(parts + [speller(line: 1), counter(line: 2)])
        let second = try await graph(Array((parts + [speller(line: 9), counter(line: 8)]).reversed()))
        #expect(second.difference(from: first).isEmpty)
        #expect(second.contract.difference(from: first).isEmpty)
        #expect(second.difference(from: first).description == "no difference")
    }

    @Test func `additions, removals and changes are named`() async throws {
        let first = try await graph(parts + [speller(line: 1), counter(line: 2)])
        let second = try await graph([
            part { Registration(using: Editor.init) },
            part { Registration(Font.self, lifetime: .weak) { _ in Font() }.dependencies() },
            part { Registration(Ink.self) { _ in Ink() } },
            part { Registration(Page.self) { _ in Page(font: Font()) }.dependencies(Lazy<Font>.self) },
            part { Registration(Double.self) { _ in 1 }.dependencies(Ink.self) },
            counter(line: 1),
            part { Registration(using: Shelf.init) },
        ])
        #expect(
            second.difference(from: first).description == """
                + Double (graph, in app)
                - ContractPlugin #1 (graph, in app)
                ~ Font: singleton → weak, now declares what it resolves
                ~ Ink: no longer declares what it resolves
                ~ Page: scoped → graph
                + Double → Ink
                - ContractPlugin #1 → Font
                - [ContractPlugin] → ContractPlugin #1
                ~ Page → Font: now resolved later
                """)
    }

    @Test func `a registration that moves to another container has changed`() async throws {
        let before = try await graph([part { Registration(Ink.self) { _ in Ink() } }], name: "app")
        let after = try await graph([part { Registration(Ink.self) { _ in Ink() } }], name: "web")
        #expect(after.difference(from: before).description == "~ Ink: in app → in web")
    }

    @Test(arguments: 0..<200) func `a difference accounts for both graphs, in either direction`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        func graph() -> DependencyGraph {
            let names = ["A", "B #1", "B #2", "B #3", "C", "D"].filter { _ in random.chance(0.8) }
            let nodes = names.map { name in
                Node(
                    name, service: String(name.prefix(1)), lifetime: random.chance(0.5) ? "graph" : "scoped",
                    owner: random.chance(0.9) ? "app" : "web")
            }
            let edges = names.flatMap { from in
                names.compactMap { to in
                    random.chance(0.3) ? Edge(from: from, to: to, isDeferred: random.chance(0.3)) : nil
                }
            }
            return DependencyGraph(nodes, edges: edges)
        }
        let (before, after) = (graph(), graph())
        let difference = after.difference(from: before)
        #expect(difference.isEmpty == (difference.description == "no difference"))
        #expect(before.details.count - difference.removed.count + difference.added.count == after.details.count)
        #expect(
            before.edges.count - difference.removedEdges.count + difference.addedEdges.count == after.edges.count)
        #expect(difference.added.allSatisfy { after[$0.name] == $0 })
        #expect(difference.removed.allSatisfy { before[$0.name] == $0 })
        #expect(after.difference(from: after).isEmpty)
        // The other way round it is the same with the roles exchanged.
        let back = before.difference(from: after)
        #expect(back.added.count == difference.removed.count && back.changed.count == difference.changed.count)
    }

    // MARK: Usage

    @Test func `a service that no root leads to is found`() async throws {
        let graph = try await graph([
            part { Registration(using: Editor.init) }, part { Registration(using: Page.init) },
            part { Registration(Font.self) { _ in Font() }.dependencies() },
            part { Registration(Ink.self) { _ in Ink() }.dependencies() },
            part { Registration(Ink.self, qualifier: "red") { _ in Ink() }.dependencies() },
            part { Registration(using: Shelf.init) }, speller(line: 1),
        ])
        let fromEditor = try graph.unreachable(from: ["Editor"])
        #expect(fromEditor.nodes.map(\.name) == ["ContractPlugin", "Ink[red]", "Shelf", "[ContractPlugin]"])
        #expect(fromEditor.opaque.isEmpty)
        // A service means each of its registrations.
        #expect(try graph.unreachable(from: ["Shelf", "Ink"]).nodes.map(\.name) == ["Editor", "Page"])
        #expect(try graph.unreachable(from: ["Editor", "Shelf", "Ink[red]"]).isEmpty)
        let error = #expect(throws: DependencyGraph.UnknownRootError.self) { try graph.unreachable(from: ["Edit"]) }
        #expect(error?.root == "Edit")
    }

    @Test func `a finding names the opaque services that may use its services`() async throws {
        let graph = try await graph([
            part { Registration(Editor.self) { r in try await Editor(page: r.resolve(), ink: r.resolve()) } },
            part { Registration(using: Page.init) }, part { Registration(Font.self) { _ in Font() } },
        ])
        let finding = try graph.unreachable(from: ["Editor"])
        #expect(finding.nodes.map(\.name) == ["Font", "Page"])
        #expect(finding.opaque.map(\.name) == ["Editor"])
    }

    @Test func `a service that lives longer than all its users is found`() async throws {
        let graph = try await graph([
            part { Registration(using: Editor.init) },
            part { Registration(using: Page.init, lifetime: .scoped) },
            part { Registration(Font.self, lifetime: .singleton) { _ in Font() }.dependencies() },
            part { Registration(Ink.self, lifetime: .singleton) { _ in Ink() }.dependencies() },
            part { Registration(using: WordCount.init) },
            part {
                Registration(Shelf.self, lifetime: .singleton) { _ in Shelf(plugins: []) }.dependencies(WordCount.self)
            },
        ])
        // A singleton's counter uses the ink, and no service uses the shelf.
        #expect(graph.outlivingUsers.nodes.map(\.name) == ["Font"])
        #expect(graph.outlivingUsers.opaque.isEmpty)
    }

    // MARK: Several containers

    @Test func `registrations of two containers with one name are two nodes`() async throws {
        func container(line: UInt, _ lifetime: Lifetime) -> Container {
            Container(name: "app") {
                Registration(Ink.self, lifetime: lifetime, fileID: "App/Ink.swift", line: line) { _ in Ink() }
                    .dependencies()
            }
        }
        func contract(_ containers: Container...) throws -> DependencyGraph {
            try DependencyGraph(declaredBy: containers).contract
        }
        let first = container(line: 1, .singleton)
        let graph = try contract(first, container(line: 2, .transient))
        #expect(graph.details.map(\.lifetime) == ["singleton", "transient"])
        #expect(graph.difference(from: try contract(container(line: 2, .transient), first)).isEmpty)
        #expect(!graph.difference(from: try contract(first, container(line: 2, .scoped))).isEmpty)
        // The same code that makes two containers is drawn once.
        #expect(try contract(first, container(line: 1, .singleton)).nodes.count == 1)
    }

    @Test func `the order of several containers has no influence on their contract`() async throws {
        let containers = [
            Container(name: "app") { Registration(expected: Ink.self, fileID: "App/Ink.swift", line: 1) },
            Container(name: "app") { Registration(expected: Ink.self, fileID: "App/Ink.swift", line: 2) },
            Container(name: "app") {
                Registration(Ink.self, lifetime: .singleton, fileID: "App/Ink.swift", line: 3) { _ in Ink() }
            },
        ]
        let expected = try DependencyGraph(declaredBy: containers).contract
        #expect(expected.details.map(\.lifetime) == [nil, "singleton"])
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let contract = try DependencyGraph(declaredBy: order.map { containers[$0] }).contract
            #expect(contract.json() == expected.json(), "\(order)")
        }
    }

    @Test func `registrations on one line with different lifetimes are two nodes`() async throws {
        let containers = [Lifetime.singleton, .transient].map { lifetime in
            Container(name: "app") { Registration(Ink.self, lifetime: lifetime) { _ in Ink() } }
        }
        let contract = try DependencyGraph(declaredBy: containers).contract
        #expect(contract.details.map(\.lifetime) == ["singleton", "transient"])
        #expect(try DependencyGraph(declaredBy: containers.reversed()).contract.json() == contract.json())
    }
}
