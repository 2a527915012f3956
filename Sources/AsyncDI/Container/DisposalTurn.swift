/// The instances of one multiton that are disposed side by side, after those of an earlier turn.
///
/// The graph of waits finds it behind the instances of the earlier turn. No call waits for the turn itself.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant.
final class DisposalTurn: Activity, @unchecked Sendable {
    private let items: [Disposable]

    private init(_ items: [Disposable]) {
        self.items = items
        super.init(.disposal)
    }

    /// None of them is disposed before the turn begins.
    override var outer: [Activity] { items }

    /// Divides dropped instances into turns, and tells each one what is disposed after it.
    ///
    /// A turn is one instance, or several consecutive ones of one multiton, none of which can hold another one. So a
    /// hook that takes long, or hangs, delays no other tenant.
    ///
    /// - Parameter items: The instances, newest first.
    /// - Returns: The turns, one after the other.
    static func turns(for items: [Disposable]) -> [[Disposable]] {
        var turns: [[Disposable]] = []
        for item in items {
            if let last = turns.last?.last, item.canBeDisposed(beside: last) {
                turns[turns.count - 1].append(item)
            } else {
                turns.append([item])
            }
        }
        for (turn, next) in zip(turns, turns.dropFirst()) {
            let following: Activity = next.count == 1 ? next[0] : DisposalTurn(next)
            for item in turn { item.noteNext(following) }
        }
        return turns
    }
}

extension Disposable {
    fileprivate func canBeDisposed(beside other: Disposable) -> Bool {
        binding === other.binding && binding.key.arguments != nil && !binding.isHeldForLong
    }
}
