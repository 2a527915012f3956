import Testing

@testable import AsyncDITesting

@Suite(.timeLimit(.minutes(10)))
struct LockedTests {
    @Test func `no change is lost, whatever threads make it`() async {
        let count = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 80_000)
    }
}
