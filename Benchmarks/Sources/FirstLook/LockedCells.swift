#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The baseline: what somebody would write by hand, a lock around a dictionary of typed cells, read in a
/// `nonisolated(nonsending)` function.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class LockedCells: @unchecked Sendable {
    private final class Cell<Value: Sendable>: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var cells: [ObjectIdentifier: AnyObject] = [:]

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func store<Value: Sendable>(_ type: Value.Type, _ value: Value) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        cells[ObjectIdentifier(type)] = Cell(value)
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async -> Value? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard let cell = cells[ObjectIdentifier(type)] else { return nil }
        return unsafeDowncast(cell, to: Cell<Value>.self).value
    }
}
