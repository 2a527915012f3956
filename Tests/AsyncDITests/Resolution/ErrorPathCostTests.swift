import Testing

@testable import AsyncDI

/// The cost of reporting an error that travels through many creations: steps, copies and comparisons, never seconds.
@Suite(.timeLimit(.minutes(10))) struct ErrorPathCostTests {
    private static let counts = [100, 200, 400]

    // MARK: The path

    @Test(arguments: counts) func `growing step by step copies each step a logarithm of times`(count: Int) {
        var path = ErrorPath<Int>()
        var copied = 0
        for step in 0..<count { copied += path.prepend([step]) }
        #expect(path.steps == (0..<count).reversed())
        #expect(copied <= count * (2 + Int.bitWidth - count.leadingZeroBitCount))
    }

    @Test func `a path that several errors share grows for each by itself`() {
        let tail = ErrorPath([3, 4])
        var (first, second) = (tail, tail)
        first.prepend([1, 2])
        second.prepend([])
        second.prepend([5])
        #expect(first.steps == [1, 2, 3, 4])
        #expect(second.steps == [5, 3, 4])
        #expect(tail.steps == [3, 4])
        #expect(ErrorPath<Int>().steps.isEmpty)
    }

    /// The steps of one service with these arguments.
    private func steps(_ arguments: [some Hashable & Sendable]) -> [PathStep] {
        arguments.map { PathStep(key: ServiceKey(Thing.self), pack: Arguments($0)) }
    }

    @Test(arguments: counts) func `a repetition is found with one comparison`(count: Int) {
        let comparisons = Counter()
        let steps = steps(((0..<count) + [count / 2, 0]).map { Number(value: $0, comparisons: comparisons) })
        #expect(steps.upToFirstRepetition.count == count + 1)
        #expect(comparisons.value == 1)
    }

    /// An argument whose hash says nothing.
    private struct Alike: Hashable {
        let value: Int

        func hash(into hasher: inout Hasher) {}
    }

    @Test func `steps of one hash are told apart`() {
        let steps = steps([1, 2, 3, 2, 1].map(Alike.init))
        #expect(steps.upToFirstRepetition.count == 4)
        #expect(Array(steps[..<3]).upToFirstRepetition.count == 3)
    }

    // MARK: The whole report

    /// An argument that counts how often it is compared.
    private struct Number: Hashable {
        let value: Int
        let comparisons: Counter

        static func == (first: Number, second: Number) -> Bool {
            first.comparisons.increment()
            return first.value == second.value
        }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    /// The number of argument comparisons before the error of a cycle of this many services arises.
    private func comparisons(inCycleOf count: Int, _ lifetime: Lifetime) async throws -> Int {
        let comparisons = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (r, number: Number) in
                let next = Number(value: (number.value + 1) % count, comparisons: comparisons)
                return try await r.resolve(Thing.self, arguments: next)
            }
        }
        let error = await expect(.circularDependency) {
            try await container.resolve(Thing.self, arguments: Number(value: 0, comparisons: comparisons))
        }
        #expect(error?.path.count == count + 1)
        return comparisons.value
    }

    @Test(arguments: counts, [Lifetime.singleton, .scoped, .multiton, .graph])
    func `the report of a cycle compares each service a few times`(count: Int, lifetime: Lifetime) async throws {
        let number = try await comparisons(inCycleOf: count, lifetime)
        #expect(number <= 8 * count, "\(number) comparisons for \(count) services")
    }

    @Test(arguments: counts, [Lifetime.singleton, .graph])
    func `another error compares each service a few times on its way`(count: Int, lifetime: Lifetime) async throws {
        let comparisons = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (r, number: Number) in
                guard number.value > 1 else { return try await r.resolve(Thing.self) }
                return try await r.resolve(
                    Thing.self, arguments: Number(value: number.value - 1, comparisons: comparisons))
            }
        }
        let error = await expect(.argumentMismatch) {
            try await container.resolve(Thing.self, arguments: Number(value: count, comparisons: comparisons))
        }
        #expect(error?.path.count == count + 1)
        #expect(comparisons.value <= 8 * count)
    }
}
