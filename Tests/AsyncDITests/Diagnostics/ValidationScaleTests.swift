import Testing

@testable import AsyncDI

private struct Part: Sendable {}
private struct Holder: Sendable {}

/// Containers so large that anything which looks at each pair of registrations would not end within the time limit.
@Suite(.timeLimit(.minutes(10))) struct ValidationScaleTests {
    private let count = 5_000

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

    @Test func `many contributions that read the same are compared`() async throws {
        let contributions = (0..<count).map { number in
            Registration(Part.self, fileID: "App/Parts.swift", line: UInt(number)) { _ in Part() }
                .dependencies(Holder.self).intoMany()
        }
        let container = Container(name: "large") {
            for contribution in contributions { contribution }
            Registration(Holder.self) { _ in Holder() }.dependencies()
        }
        let declared = try await container.declaredGraph()
        let made = declared.details.map { node in
            var node = node
            node.creations = 1
            return node
        }
        #expect(try await container.comparison(with: DependencyGraph(made, edges: declared.edges)).undeclared.isEmpty)
        let comparison = try await container.comparison(with: DependencyGraph(made))
        #expect(comparison.unseen.count == count)
        let recorded = DependencyGraph(
            made, edges: made.map { .init(from: $0.name, to: made[count].name) })
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: recorded) }
        #expect(error?.problems.count == count + 1)
    }

    @Test func `many missing dependencies are all found`() async throws {
        let problems = try await container(missing: true).validationReport().problems
        #expect(problems.count == count && problems.allSatisfy { $0.code == .notRegistered })
    }

    @Test func `many opaque services are listed, in the report and in the text`() async throws {
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

    /// A container of numbered parts, each of which is made for the one before it and leads to the same last service,
    /// beside as many that keep the first one.
    private func container(
        of lifetime: Lifetime, _ count: Int, holding last: any Sendable.Type, through length: Int
    ) -> Container {
        let chain = (0..<length).map { number in
            let part = Registration(Part.self, qualifier: .key(number), lifetime: .graph) { _ in Part() }
            return number + 1 < length
                ? part.dependency(Part.self, qualifier: .key(number + 1)) : part.needing(last)
        }
        let holders = (0..<count).map { number in
            Registration(Holder.self, qualifier: .key(number), lifetime: lifetime) { _ in Holder() }
                .dependency(Part.self, qualifier: .key(0))
        }
        return Container(name: "large") {
            for part in chain { part }
            for holder in holders { holder }
            Registration(expected: Int.self)
            Registration(String.self, lifetime: .scoped) { _ in "" }.dependencies()
            Registration(instance: 0.5)
        }
    }

    @Test func `many holders of a long chain are looked at where a value of scopes is expected`() async throws {
        let container = container(of: Lifetime("session"), 2 * count, holding: Double.self, through: 2 * count)
        #expect(try await container.validationReport().problems.isEmpty)
    }

    @Test func `many holders of one captive, or of one value of scopes, are counted`() async throws {
        for (lifetime, last, code) in [
            (.singleton, String.self, .captiveDependency), (Lifetime("session"), Int.self, .notRegistered),
        ] as [(Lifetime, any Sendable.Type, ResolutionError.Code)] {
            let container = container(of: lifetime, 5_000, holding: last, through: 1_000)
            let problems = try await container.validationReport().problems
            #expect(problems.count == 100 && problems.allSatisfy { $0.code == code && $0.path.count == 1_002 })
            #expect(problems.filter { $0.message.hasSuffix("more services.") }.count == 1)
            #expect(problems.last?.message.hasSuffix("The same holds for 4900 more services.") == true)
        }
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

    @Test func `a component that is found after a long chain has no more room than it needs`() {
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

extension Registration where Service: Sendable {
    /// Declares a dependency whose type is known at run time.
    fileprivate func needing(_ service: any Sendable.Type) -> Self {
        func declared<Dependency: Sendable>(_ service: Dependency.Type) -> Self { dependencies(service) }
        return _openExistential(service, do: declared)
    }
}
