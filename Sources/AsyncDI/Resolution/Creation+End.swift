/// The end of a creation that was reset, for a drain of its key.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant.
final class EndOfCreation: Completion, @unchecked Sendable {
    let key: CreationKey

    init(of key: CreationKey) {
        self.key = key
        super.init()
    }
}

extension Creation {
    /// Finished when the creation ends; nil when it has ended.
    ///
    /// A node of its own in the graph of waits, because a request that waits for the creation itself may receive the
    /// unfinished instance.
    var end: EndOfCreation? {
        let end = extras { state -> EndOfCreation? in
            // The creation's end is noted before it checks for this object.
            if hasEnded { return nil }
            let end = state.end ?? EndOfCreation(of: key)
            state.end = end
            return end
        }
        return end ?? nil
    }

    /// Finishes the end, if a drain waits for it.
    func finishEnd() { (extrasIfAny { $0.end } ?? nil)?.finish() }
}
