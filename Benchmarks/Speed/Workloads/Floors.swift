import Synchronization

/// What no container can do without, on top of a baseline: the least that a row could take.
func registerFloors() {
    compare("floor-hit", operations: 20_000) {
        let (cells, readers) = (snapshot(), Readers())
        return .each {
            for _ in 0..<$0 {
                guard Run.current == nil, Run.outer == nil else { throw Missing() }
                readers.enter()
                consume(try await cells.resolve((any Service).self))
                readers.exit()
            }
        } baseline: {
            for _ in 0..<$0 { consume(try await cells.resolve((any Service).self)) }
        }
    }
    compare("floor-transient", operations: 5_000) {
        let factories = Factories()
        factories.register((any Service).self) { _ in SomeService() }
        let binding = Factories()
        binding.register((any Service).self) { _ in try await makeInside(Run()) }
        return .each {
            for _ in 0..<$0 { consume(try await binding.resolve((any Service).self)) }
        } baseline: {
            for _ in 0..<$0 { consume(try await factories.resolve((any Service).self)) }
        }
    }
}

/// Counts readers, so that a table can be freed when nobody reads it.
private final class Readers: Sendable {
    private let count = Atomic(0)

    func enter() { _ = count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func exit() { _ = count.wrappingSubtract(1, ordering: .releasing) }
}

/// What a factory's requests are known by: whom they belong to.
private final class Run: Sendable {
    @TaskLocal static var current: Run?
    @TaskLocal static var outer: Run?
}

/// Binds a task-local around a factory, in the caller's isolation.
private func makeInside(_ run: Run, isolation: isolated (any Actor)? = #isolation) async throws -> any Service {
    try await Run.$current.withValue(run) {
        _ = isolation
        return SomeService()
    }
}
