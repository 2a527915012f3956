@testable import AsyncDI

extension Locked {
    /// The value at this moment, for a variable that a factory and its test share.
    var value: Value {
        get { withLock { $0 } }
        nonmutating set {
            // The value before it is released outside the lock.
            let old = withLock { exchange(&$0, with: newValue) }
            withExtendedLifetime(old) {}
        }
    }
}
