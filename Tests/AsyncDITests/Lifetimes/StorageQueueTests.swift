import Testing

@testable import AsyncDI

/// The pure order of the calls of storages.
@Suite(.timeLimit(.minutes(10))) struct StorageQueueTests {
    private let queue = Locked(StorageQueue<Int>())

    private func begin(_ work: StorageQueue<Int>.Work, on storage: StrongStorage) -> Bool {
        queue.withLock { $0.begin(work, on: storage) }
    }

    private func next(on storage: StrongStorage) -> String? {
        switch queue.withLock({ $0.next(on: storage) }) {
        case .store(let number)?: "store \(number)"
        case .clear?: "clear"
        case nil: nil
        }
    }

    private func isBusy(_ storage: StrongStorage) -> Bool { queue.withLock { $0.isBusy(storage) } }

    @Test func `the caller that finds a storage free does its work, and the work that others leave, in order`() {
        let storage = StrongStorage()
        #expect(!isBusy(storage))
        #expect(begin(.store(1), on: storage))
        #expect(isBusy(storage))
        #expect(!begin(.clear, on: storage))
        #expect(!begin(.store(2), on: storage))
        #expect(queue.withLock { $0.waitingCount } == 2)
        #expect(next(on: storage) == "clear")
        #expect(!begin(.clear, on: storage))
        #expect(next(on: storage) == "store 2")
        #expect(next(on: storage) == "clear")
        #expect(isBusy(storage))
        #expect(next(on: storage) == nil)
        #expect(!isBusy(storage))
        #expect(begin(.store(3), on: storage))
    }

    @Test func `storages do not wait for one another`() {
        let (first, second) = (StrongStorage(), StrongStorage())
        #expect(begin(.clear, on: first))
        #expect(begin(.clear, on: second))
        #expect(next(on: first) == nil)
        #expect(isBusy(second) && !isBusy(first))
    }
}
