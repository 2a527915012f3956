import Testing

@testable import AsyncDI

/// Counts how often any of its kind is compared or hashed.
private struct Counted: Hashable, Sendable {
    let number: Int
    let steps: Counter
    static func == (first: Counted, second: Counted) -> Bool {
        first.steps.increment()
        return first.number == second.number
    }
    func hash(into hasher: inout Hasher) {
        steps.increment()
        hasher.combine(number)
    }
}

/// The cost of looking for a cycle in deep chains of runs.
@Suite(.timeLimit(.minutes(10))) struct RunChainTests {
    private static let depth = 5_000

    private let container: Container
    private let bindings: [Binding]

    init() throws {
        container = Container {
            for number in 0..<3_000 {
                Registration(Thing.self, qualifier: "\(number)", lifetime: .transient) { _ in Thing() }
            }
        }
        let table = container.core.table
        bindings = try (0..<3_000).map { number in
            try #require(table.registration(of: ServiceKey(Thing.self, qualifier: "\(number)"))).binding
        }
    }

    private func chain(of count: Int) -> [Run] {
        var runs: [Run] = []
        for binding in bindings[..<count] {
            runs.append(
                Run(
                    of: binding, .none, host: container.core, inside: runs.last, creation: nil, holder: nil,
                    graph: nil))
        }
        return runs
    }

    @Test func `every outer run is found, and no other`() {
        let runs = chain(of: 300)
        for (index, run) in runs.enumerated() {
            for (other, binding) in bindings[..<310].enumerated() {
                #expect(run.isMaking(binding, .none, in: container.core) == (other <= index))
            }
        }
    }

    @Test func `a look-up takes a few steps however deep the chain is`() {
        let runs = chain(of: 3_000)
        var most = 0
        var all = 0
        for run in runs {
            var search = RunSearch(bindings[0], .none, in: container.core)
            let isFound = search.finds(in: run)
            #expect(isFound)
            most = max(most, search.steps)
            search = RunSearch(bindings[2_999], .none, in: container.core)
            _ = search.finds(in: run)
            most = max(most, search.steps)
            all += run.stepsToIndex
        }
        #expect(most <= 32 + 8, "the nearest one by one, then a set for each bit of the depth")
        #expect(all <= 3_000 * 8, "each run is put into a set of each size")
    }

    @Test func `the root and the graph are found from any depth`() {
        let runs = chain(of: 2_000)
        #expect(runs.allSatisfy { $0.root === runs[0] })
        let graph = runs[1_999].graph
        #expect(runs.allSatisfy { $0.graph === graph })
        var inner: Run? = Run(
            of: bindings[0], .none, host: container.core, inside: runs[1_999], creation: nil, holder: nil,
            graph: ResolutionGraph())
        let other = inner?.graph
        for binding in bindings[..<500] {
            inner = Run(
                of: binding, .none, host: container.core, inside: inner, creation: nil, holder: nil, graph: nil)
            #expect(inner?.graph === other)
        }
        #expect(other !== graph)
    }

    @Test func `arguments are compared n log n times`() async throws {
        let steps = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { (r, level: Counted) in
                guard level.number > 0 else { return Thing(0) }
                let next = Counted(number: level.number - 1, steps: level.steps)
                return Thing(try await r.resolve(Thing.self, arguments: next).number + 1)
            }
        }
        let nest = try await container.resolve(
            Thing.self, arguments: Counted(number: Self.depth, steps: steps))
        #expect(nest.number == Self.depth)
        #expect(steps.value < Self.depth * 64, "32 of the nearest, then hashes: \(steps.value)")
    }

    @Test(arguments: [0, 1, 31, 32, 33, 64, 100, 1_000])
    func `a cycle is noticed at once, however deep`(depth: Int) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { (r, level: Int) in
                runs.increment()
                // The last one resolves the first.
                return try await r.resolve(Thing.self, arguments: level == 0 ? depth : level - 1)
            }
        }
        await expect(.circularDependency) { try await container.resolve(Thing.self, arguments: depth) }
        #expect(runs.value == depth + 1)
    }

    @Test func `a request that leads into a cycle far below is noticed at once`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { (r, level: Int) in
                runs.increment()
                return try await r.resolve(Thing.self, arguments: level == 0 ? 40 : level - 1)
            }
        }
        let error = await expect(.circularDependency) { try await container.resolve(Thing.self, arguments: 200) }
        #expect(runs.value == 201)
        #expect(error?.path.count == 202)
    }

    @Test func `a deep chain with its sets is released in a loop`() {
        var last: Run?
        for number in 0..<100_000 {
            last = Run(
                of: bindings[number % 3_000], .none, host: container.core, inside: last, creation: nil, holder: nil,
                graph: nil)
            if number % 1_000 == 0 { _ = last?.root }
        }
        weak let first = last?.root
        #expect(last?.isMaking(bindings[0], .none, in: container.core) == true)
        #expect(first != nil)
        last = nil
        #expect(first == nil)
    }
}
