/// The end of a creation that was reset, for a drain of its key and for the next creation of the key.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant, a count that belongs to the lock of the
/// creation's place, and a member that belongs to that lock until the end and is constant afterwards.
final class EndOfCreation: Completion, @unchecked Sendable {
    let key: CreationKey
    /// The number of drains that wait for it, and for its product.
    private(set) var drains = 0
    /// Whether a drain waits for it, or has waited in vain.
    private(set) var wasDrained = false
    /// The disposal that follows from the creation's end.
    ///
    /// Written once, before the end, and read by drains after the end.
    private(set) var product: Disposable?

    init(of key: CreationKey) {
        self.key = key
        super.init()
    }

    /// Notes that a drain waits for the end, and throws the errors of the disposal that follows from it.
    ///
    /// Called under the lock of the creation's place.
    func noteDrain() {
        drains += 1
        wasDrained = true
        product?.noteDrain()
    }

    /// Notes that a drain does not wait any longer.
    ///
    /// Called under the lock of the creation's place.
    func noteEndOfDrain() {
        drains -= 1
        product?.noteEndOfDrain()
    }

    /// Notes the disposal that follows from the creation's end: it may be over before a drain looks for it.
    ///
    /// Called under the lock of the creation's place.
    func produced(_ product: Disposable) {
        for _ in 0..<drains { product.noteDrain() }
        self.product = product
    }

    /// Waits for the end, on behalf of the next creation of the key.
    ///
    /// - Throws: The error for a wait that would never end; `CancellationError`.
    func isOver(before creation: Creation, in run: Run) async throws {
        if hasEnded { return }
        let suspension = Suspension()
        if let runs = Waits.begin(suspension, from: Caller(activity: creation, run: run), for: self) {
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
        extras { state in
            // The creation's end is noted before it checks for this object.
            if hasEnded { return nil }
            let end = state.end ?? EndOfCreation(of: key)
            state.end = end
            return end
        }
    }

    /// The end, if a call or a creation may wait for it.
    var requestedEnd: EndOfCreation? { extrasIfAny { $0.end } }

    /// Finishes the end, if a call or a creation may wait for it.
    ///
    /// The waiting calls and creations have the object. This creation releases it, because a kept resolver keeps the
    /// creation, and must not keep the leases of the disposed instance.
    func finishEnd() {
        extrasIfAny { $0.end.take() }?.finish()
    }
}
