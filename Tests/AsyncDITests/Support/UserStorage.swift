@testable import AsyncDI

/// A storage of a user's own: a test empties it, counts its calls, and is called back by it.
final class UserStorage: InstanceStorage {
    private let instance = StrongStorage()
    private let stored: @Sendable () -> Void
    private let cleared: @Sendable () -> Void
    let stores = Counter()
    let clears = Counter()

    /// - Parameters:
    ///   - stored: Called when the storage has taken an instance, before the container notes it.
    ///   - cleared: Called when a `clear` has taken an instance out, before the instance is disposed.
    init(stored: @escaping @Sendable () -> Void = {}, cleared: @escaping @Sendable () -> Void = {}) {
        (self.stored, self.cleared) = (stored, cleared)
    }

    func load() -> (any Sendable)? { instance.load() }

    func store(_ new: any Sendable) {
        stores.increment()
        instance.store(new)
        stored()
    }

    func clear() {
        clears.increment()
        let wasFull = instance.load() != nil
        forget()
        if wasFull { cleared() }
    }

    /// Lets the instance go, as a storage may at any time.
    func forget() { instance.clear() }
}
