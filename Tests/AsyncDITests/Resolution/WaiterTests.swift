import Testing

@testable import AsyncDI

/// A promise that is kept once.
@Suite(.timeLimit(.minutes(10))) struct WaiterTests {
    /// The reported targets of waiters.
    private let creation: Creation

    init() throws {
        let container = Container { Registration(Int.self, lifetime: .singleton) { _ in 1 } }
        let (binding, table) = try #require(container.core.table.registration(of: ServiceKey(Int.self)))
        let request = Request(key: binding.key, pack: .none, host: table.host, asker: nil)
        creation = Creation(
            CreationKey(withoutArguments: binding), for: request, asking: table.host, storage: nil,
            registrationCount: 0,
            begin: .zero)
    }

    /// The outcome of a waiter, as a value to compare.
    private enum Result: Equatable {
        case instance(Int), failure(TestError), retry, cancelled, disposed, other
    }

    private nonisolated(nonsending) func result(of waiter: Waiter) async -> Result {
        await waiter.wait()
        return switch waiter.outcome {
        case .instance(let cell): .instance(cell.value(as: Int.self))
        case .failure(let error): (error as? TestError).map(Result.failure) ?? .other
        case .retry: .retry
        case .cancelled: .cancelled
        case .disposed: .disposed
        case .leased: .other
        }
    }

    @Test func `an outcome that comes first is kept for a later wait`() async {
        let outcomes: [(Waiter.Outcome, Result)] = [
            (.instance(StrongCell(7)), .instance(7)), (.failure(TestError(1)), .failure(TestError(1))),
            (.retry, .retry),
            (.cancelled, .cancelled), (.disposed, .disposed),
        ]
        for (outcome, expected) in outcomes {
            let waiter = Waiter(for: creation)
            waiter.resume(outcome)
            #expect(await result(of: waiter) == expected)
        }
    }

    @Test func `an outcome that comes later resumes the waiter`() async {
        let waiter = Waiter(for: creation)
        let begun = Gate()
        async let outcome = {
            begun.arrive()
            return await result(of: waiter)
        }()
        await begun.arrived()
        for _ in 0..<20 { await Task.yield() }
        waiter.resume(.instance(StrongCell(3)))
        #expect(await outcome == .instance(3))
    }

    @Test func `the first outcome counts`() async {
        let waiter = Waiter(for: creation)
        waiter.resume(.cancelled)
        waiter.resume(.instance(StrongCell(1)))
        waiter.resume(.disposed)
        #expect(await result(of: waiter) == .cancelled)
        waiter.resume(.retry)
        #expect(await result(of: waiter) == .cancelled, "also when asked again")
    }

    @Test func `the instance of an outcome that came too late is not kept`() async {
        let living = Locked(0)
        let waiter = Waiter(for: creation)
        waiter.resume(.cancelled)
        waiter.resume(.instance(StrongCell(Mortal(1, counting: living))))
        #expect(living.withLock { $0 } == 0)
    }

    @Test func `waiters are told apart by identity`() {
        let (first, second) = (Waiter(for: creation), Waiter(for: creation))
        #expect(first == first)
        #expect(first != second)
        #expect(Set([first, second, first]).count == 2)
    }

    /// A second resume of the continuation would crash; none would hang.
    @Test func `a waiter that many threads race to resume has one outcome`() async {
        for round in 0..<60 {
            let waiters = (0..<16).map { _ in Waiter(for: creation) }
            async let outcomes = withTaskGroup(of: Result.self) { group in
                for waiter in waiters { group.addTask { await self.result(of: waiter) } }
                return await group.reduce(into: [Result]()) { $0.append($1) }
            }
            await onThreads(6) { thread in
                for (index, waiter) in waiters.enumerated() {
                    switch (thread + index + round) % 4 {
                    case 0: waiter.resume(.cancelled)
                    case 1: waiter.resume(.instance(StrongCell(thread)))
                    case 2: waiter.resume(.retry)
                    default: waiter.resume(.failure(TestError(thread)))
                    }
                }
            }
            let results = await outcomes
            #expect(results.count == 16)
            #expect(!results.contains(.other) && !results.contains(.disposed))
            // A second request has the same answer as the first.
            var again: [Result] = []
            for waiter in waiters { again.append(await result(of: waiter)) }
            #expect(again.map { "\($0)" }.sorted() == results.map { "\($0)" }.sorted())
        }
    }
}
