import NotesService
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FairLockTests {
    private final class Room: Sendable {
        let inside = Atomic(0)
    }

    @Test
    func `one task at a time holds it`() async throws {
        let lock = FairLock()
        let room = Room()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await lock.lock()
                    #expect(room.inside.add(1, ordering: .relaxed).newValue == 1)
                    await Task.yield()
                    room.inside.subtract(1, ordering: .relaxed)
                    lock.unlock()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test
    func `a cancelled waiter leaves alone`() async throws {
        let lock = FairLock()
        try await lock.lock()
        let waiter = Task { try await lock.lock() }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        lock.unlock()
        try await lock.lock()
        lock.unlock()
    }
}
