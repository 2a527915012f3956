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
    /// A node of its own in the graph of waits, because a request that waits for a creation may be given the unfinished
    /// instance.
    var end: EndOfCreation? {
        let end = extras { state -> EndOfCreation? in
            // The end of the creation looks here after it was noted.
            if hasEnded { return nil }
            let end = state.end ?? EndOfCreation(of: key)
            state.end = end
            return end
        }
        return end ?? nil
    }

    /// The creation has ended.
    func finishEnd() { (extrasIfAny { $0.end } ?? nil)?.finish() }
}
