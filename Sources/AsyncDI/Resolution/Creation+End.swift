/// The end of a creation that was reset, for a drain of its key and for the next creation of the key.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant, and members that belong to the lock of the
/// creation's place until the creation has ended, and are constant afterwards.
final class EndOfCreation: Completion, @unchecked Sendable {
    let key: CreationKey
    /// Whether a drain waits for it.
    private var isDrained = false
    /// The disposal that followed from the creation's end, for a drain that waits for it.
    ///
    /// Written once, before the end, and read by the drain after the end.
    private(set) var product: Disposable?

    init(of key: CreationKey) {
        self.key = key
        super.init()
    }

    /// Notes that a drain waits for the end, and throws the errors of the disposal that follows from it.
    ///
    /// Called under the lock of the creation's place, before the flight ends.
    func isAwaitedByDrain() { isDrained = true }

    /// Notes the disposal that follows from the creation's end: it may be over before a drain looks for it.
    ///
    /// Called under the lock of the creation's place.
    func produced(_ product: Disposable) {
        guard isDrained else { return }
        product.isAwaitedByDrain()
        self.product = product
    }

    /// Waits for the end, on behalf of the next creation of the key.
    ///
    /// - Throws: The error for a wait that would never end; `CancellationError`.
    func isOver(before creation: Creation, in run: Run) async throws {
        if hasEnded { return }
        let suspension = Suspension()
        if let runs = Waits.begin(suspension, from: Asker(activity: creation, run: run), for: self) {
            throw ResolutionError(
                .circularDependency,
                "\(key.binding.key) was reset or replaced during its creation, which needs the next instance.",
                advice: "Do not reset a service in its own factory; resolve it again when the request has failed.",
                steps: run.cycle(through: runs), asker: run)
        }
        defer { Waits.end(suspension) }
        while !hasEnded { _ = try await waitUnlessWoken(since: wakes) }
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

    /// The end, if a call or a creation may wait for it.
    var requestedEnd: EndOfCreation? { extrasIfAny { $0.end } ?? nil }

    /// Finishes the end, if a call or a creation may wait for it.
    func finishEnd() { requestedEnd?.finish() }
}
