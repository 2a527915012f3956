import AllocatedBytes
import AsyncDI
import Synchronization

private final class Tenant: Sendable {
    private let number: Int
    init(_ number: Int) { self.number = number }
}

/// The memory of many instances, by the difference in allocated bytes.
func registerMemory() {
    weigh("memory-registration", objects: 100_000) { count in
        let before = Int(allocatedBytes())
        let container = manySlots(count)
        _ = try await container.resolve(SomeService.self, qualifier: Slot(index: 0))
        return withExtendedLifetime(container) { Int(allocatedBytes()) - before }
    }
    weigh("memory-scope", objects: 10_000) { count in
        let container = Container {
            Registration((any Service).self, lifetime: .scoped) { _ in SomeService() }
        }
        var scopes: [Container] = []
        scopes.reserveCapacity(count)
        let before = Int(allocatedBytes())
        for _ in 0..<count { scopes.append(try await container.openScope()) }
        let bytes = Int(allocatedBytes()) - before
        withExtendedLifetime(scopes) {}
        try await container.dispose()
        return bytes
    }
    weigh("memory-multiton", objects: 100_000) { count in
        var instances: [Tenant] = []
        instances.reserveCapacity(count)
        let atFirst = Int(allocatedBytes())
        for index in 0..<count { instances.append(Tenant(index)) }
        let weightOfInstances = Int(allocatedBytes()) - atFirst
        withExtendedLifetime(instances) {}

        let container = Container {
            Registration(Tenant.self, lifetime: .multiton) { (_, number: Int) in Tenant(number) }
        }
        let before = Int(allocatedBytes())
        for index in 0..<count { _ = try await container.resolve(Tenant.self, arguments: index) }
        return withExtendedLifetime(container) { Int(allocatedBytes()) - before } - weightOfInstances
    }
    weigh("memory-waiter", objects: 10_000) { count in
        let container = Container {
            Registration(Tenant.self, lifetime: .multiton) { (_, number: Int) in
                try await Task.sleep(for: .seconds(3_600))
                return Tenant(number)
            }
        }
        let requests = try await bytes(ofTasks: count) {
            _ = try? await container.resolve(Tenant.self, arguments: 1)
        } untilAllWait: {
            container.activity().creations.first?.waiters == count
        }
        let arrived = Atomic(0)
        let tasks = try await bytes(ofTasks: count) {
            arrived.add(1, ordering: .relaxed)
            try? await Task.sleep(for: .seconds(3_600))
        } untilAllWait: {
            arrived.load(ordering: .relaxed) == count
        }
        return requests - tasks
    }
}

/// The allocated bytes of tasks that wait, which are then cancelled.
private func bytes(
    ofTasks count: Int, _ operation: @escaping @Sendable () async -> Void, untilAllWait allWait: () -> Bool
) async throws -> Int {
    var tasks: [Task<Void, Never>] = []
    tasks.reserveCapacity(count)
    let before = Int(allocatedBytes())
    for _ in 0..<count { tasks.append(Task { await operation() }) }
    while !allWait() { try await Task.sleep(for: .milliseconds(1)) }
    // The last of them may still be on its way into its wait.
    try await Task.sleep(for: .milliseconds(10))
    let bytes = Int(allocatedBytes()) - before
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    return bytes
}
