import Testing

@testable import AsyncDI

private struct Part: Sendable {}

/// Containers so large that anything which looks at each pair of registrations would not end within the time limit.
@Suite(.timeLimit(.minutes(10))) struct ValidationScaleTests {
    private let count = 10_000

    /// A container of numbered parts, each of which declares the next one, or one that is not there.
    private func container(missing: Bool) -> Container {
        let registrations = (0..<count).map { number in
            Registration(Part.self, qualifier: .key(number), lifetime: .singleton) { _ in Part() }
                .dependency(Part.self, qualifier: .key(missing ? -number - 1 : number + 1))
        }
        return Container(name: "large") { for registration in registrations { registration } }
    }

    @Test func `a chain of many is validated, drawn and compared`() async throws {
        let container = container(missing: false)
        let report = try await container.validationReport()
        #expect(report.problems.map(\.code) == [.notRegistered])
        let declared = try await container.declaredGraph()
        #expect(declared.edges.count == count - 1)
        // As if each had been created, and had resolved another one.
        let recorded = DependencyGraph(
            declared.details.map { node in
                var node = node
                node.creations = 1
                return node
            },
            edges: declared.edges.map { .init(from: $0.to, to: $0.from) })
        let comparison = try await container.comparison(with: recorded)
        #expect(comparison.undeclared.count == count - 1 && comparison.unseen.count == count - 1)
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: recorded) }
        #expect(error?.problems.count == count - 1)
    }

    @Test func `many that are missing are all found`() async throws {
        let problems = try await container(missing: true).validationReport().problems
        #expect(problems.count == count && problems.allSatisfy { $0.code == .notRegistered })
    }

    @Test func `many that say nothing are listed, here and in the text`() async throws {
        let registrations = (0..<count).map { number in
            Registration(Part.self, qualifier: .key(number), lifetime: .singleton) { _ in Part() }
        }
        let container = Container(name: "large") { for registration in registrations { registration } }
        #expect(try await container.validationReport().opaque.count == count)
        #expect(container.description.split(separator: "\n").count == count + 1)
    }

    @Test func `many holders of a long chain that lives in its asker are looked at`() {
        final class Place {}
        let (root, count) = (Place(), 40_000)
        let holders = (0..<count).map { _ in
            GraphValidator<Place>.Node(
                sharing: .place(root, isScoped: false, outlivesScopes: true), edges: [.init(to: count)])
        }
        let chain = (0..<count).map { number in
            GraphValidator<Place>.Node(
                sharing: .asker, edges: number + 1 < count ? [.init(to: count + number + 1)] : [])
        }
        let validator = GraphValidator(nodes: holders + chain, rule: CaptiveRule(parent: { _ in nil }))
        #expect(validator.captives.isEmpty && validator.cycles.isEmpty)
    }

    @Test func `a ring of many with as many chords has cycles, as many as are given`() {
        final class Place {}
        let nodes = (0..<count).map { number in
            GraphValidator<Place>.Node(
                sharing: .asker, edges: [.init(to: (number + 1) % count), .init(to: (number * 7 + 3) % count)])
        }
        let validator = GraphValidator(nodes: nodes, rule: CaptiveRule(parent: { _ in nil }))
        #expect(validator.cycles.count == GraphValidator<Place>.mostCycles)
        let pairs = (0..<count).map { number in
            GraphValidator<Place>.Node(sharing: .asker, edges: [.init(to: number ^ 1)])
        }
        let apart = GraphValidator(nodes: pairs, rule: CaptiveRule(parent: { _ in nil }))
        #expect(apart.cycles.count == count / 2)
    }

    @Test func `what is found after a long chain has no more room than it needs`() {
        let chain = (0..<count).map { $0 + 1 < count ? [$0 + 1] : [] }
        let found = StronglyConnectedComponents(successors: chain + Array(repeating: [0], count: 100))
        #expect(found.components.count == count + 100)
        #expect(found.components.allSatisfy { $0.capacity < 100 })
    }

    @Test func `a graph's dependencies are found one by one`() {
        let graph = DependencyGraph(
            edges: (0..<count).map { .init(from: "Service \($0)", to: "Service \($0 + 1)") })
        #expect(graph.nodes.allSatisfy { graph[$0] != nil && graph.dependencies(of: $0).count <= 1 })
    }
}
