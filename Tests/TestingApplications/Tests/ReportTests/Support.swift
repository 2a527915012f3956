import Foundation
import Shop

struct FakeGateway: Gateway {
    var name = "fake"
}

struct Mistake: Error {}

/// The objects that a test releases too late.
///
/// `@unchecked Sendable` because the array is touched only while the lock is held.
final class Kept: @unchecked Sendable {
    private let lock = NSLock()
    private var ledgers: [Ledger] = []

    func keep(_ ledger: Ledger) { lock.withLock { ledgers.append(ledger) } }
}

/// Opened once; until then, tasks wait.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
