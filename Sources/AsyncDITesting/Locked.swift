import Foundation

/// A value behind a lock: every access goes through ``withLock(_:)``.
///
/// `Synchronization.Mutex` is not used because on Linux it makes ThreadSanitizer report races that are none, and these
/// would be in the tests of an application.
///
/// `@unchecked Sendable` because the value is touched only while the lock beside it is held; a breach shows where many
/// threads count.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Runs `body` with the value while no other thread has it.
    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
