/// Baseline **M**: typed cells in a dictionary behind a lock.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class LockedCells: @unchecked Sendable {
    private let mutex = Mutex()
    private var cells: [ObjectIdentifier: Cell] = [:]

    func store<Value: Sendable>(_ type: Value.Type, _ value: Value) {
        mutex.withLock { cells[ObjectIdentifier(type)] = TypedCell(value) }
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        try mutex.withLock {
            guard let cell = cells[ObjectIdentifier(type)] else { throw Missing() }
            return unsafeDowncast(cell, to: TypedCell<Value>.self).value
        }
    }
}

/// Baseline **D**: a dictionary behind a lock, its key a plain struct of the arguments.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class LockedDictionary<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    private let mutex = Mutex()
    private var values: [Key: Value] = [:]

    func store(_ key: Key, _ value: Value) {
        mutex.withLock { values[key] = value }
    }

    nonisolated(nonsending) func resolve(_ key: Key) async throws -> Value {
        try mutex.withLock {
            guard let value = values[key] else { throw Missing() }
            return value
        }
    }
}

struct OneArgument: Hashable {
    let tenant: String
}

struct TwoArguments: Hashable {
    let tenant: String
    let shard: Int
}
