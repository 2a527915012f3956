@testable import AsyncDI

extension LeaseTable {
    /// The disposals that wait for the last lease of an instance.
    func pending(where isIncluded: (CreationKey) -> Bool) -> [Disposable] {
        all.flatMap { $0.pending.filter { isIncluded($0.key) } }
    }
}
