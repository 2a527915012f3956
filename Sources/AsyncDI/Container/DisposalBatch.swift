/// Dropped instances that one task disposes, turn after turn.
struct DisposalBatch: Sendable {
    /// One instance, or several consecutive ones of one multiton, which are disposed side by side.
    struct Turn: Sendable {
        let first: Disposable
        /// Apart from the first one, because most turns have no others and need no array.
        fileprivate(set) var others: [Disposable] = []
        var items: [Disposable] { [first] + others }
    }

    let turns: [Turn]
    /// The end of the batch, for a call that waits for it.
    let end: Completion?

    /// Divides instances into turns, and tells the graph of waits what each one precedes.
    ///
    /// No instance of a turn may hold another one. So a hook that suspends for long delays no other tenant.
    ///
    /// - Parameters:
    ///   - items: The instances, newest first.
    ///   - end: Ends after the last instance; nil if no call waits for it.
    init(_ items: [Disposable], before end: Completion? = nil) {
        var turns: [Turn] = []
        for item in items {
            let binding = item.binding
            if turns.last?.first.binding === binding, binding.lifetime.kind == .multiton, !binding.isHeld {
                turns[turns.count - 1].others.append(item)
            } else {
                turns.append(Turn(first: item))
            }
        }
        var following: Activity? = end
        for turn in turns.reversed() {
            turn.first.noteNext(following)
            for item in turn.others { item.noteNext(following) }
            following = turn.others.isEmpty ? turn.first : DisposalTurn(turn.items, before: following)
        }
        self.turns = turns
        self.end = end
    }
}

/// The instances that are disposed side by side, as what an earlier turn precedes in the graph of waits.
///
/// No call waits for the turn itself.
///
/// `@unchecked Sendable` because its superclass is; it adds constants.
private final class DisposalTurn: Activity, @unchecked Sendable {
    private let items: [Disposable]
    private let following: Activity?

    init(_ items: [Disposable], before following: Activity?) {
        self.items = items
        self.following = following
        super.init(.disposal)
    }

    /// None of them is disposed before the turn begins.
    override var outer: [Activity] {
        // The others lead on only to the same ends, and nothing waits for them.
        items.filter { $0.isInGraph || !$0.leases.isEmpty } + (following.map { [$0] } ?? [])
    }
}
