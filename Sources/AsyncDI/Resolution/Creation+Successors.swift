/// The end of a creation that was reset, for the creations that come after it.
extension Creation {
    /// Waits for the end of this creation, on behalf of the next one for the same key.
    func isOver(before successor: Creation, in run: Run) async throws {
        guard let end else { return }
        let suspension = Suspension()
        if let runs = Waits.begin(suspension, from: Asker(activity: successor, run: run), for: end) {
            throw ResolutionError.circular(
                (run.path + runs.flatMap(\.pathInCreation) + [run.step]).upToFirstRepetition, asker: run)
        }
        defer { Waits.end(suspension) }
        _ = try await end.waitUnlessWoken(since: 0)
    }

    /// Finished when the creation ends; nil when it has ended.
    ///
    /// A node of its own in the graph of waits, because a request that waits for a creation may be given the unfinished
    /// instance.
    var end: Completion? {
        let end = extras { state -> Completion? in
            // The end of the creation looks here after it was noted.
            if hasEnded { return nil }
            let end = state.end ?? Completion()
            state.end = end
            return end
        }
        return end ?? nil
    }

    /// The creation has ended: its successors go on.
    func resumeSuccessors() { (extrasIfAny { $0.end } ?? nil)?.finish() }

    /// Whether a run makes its calls on behalf of this creation, however many others are between the two.
    func contains(_ run: Run?) -> Bool {
        var activity = Waits.asker(of: run)?.activity
        while let current = activity {
            if current === self { return true }
            activity = current.beginner?.activity
        }
        return false
    }
}
