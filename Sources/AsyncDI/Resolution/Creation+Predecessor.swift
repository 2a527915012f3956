/// The wait for the previous instance or creation of the same key.
extension Creation {
    /// The activity that a creation waits for before its factory runs.
    enum Predecessor {
        /// The disposal of the previous instance.
        case disposal(SuccessorWait)
        /// A creation that was reset before its end.
        case creation(EndOfCreation)
    }

    /// The next step of a creation whose predecessor has ended.
    enum NextStep {
        case work
        /// Wait for the instance of the predecessor, which is being disposed.
        case wait(Predecessor)
        /// End without work: its requests are decided on again.
        case end
    }

    /// Waits until the factory may run.
    ///
    /// - Throws: `CancellationError` if the requests must be decided on again; the errors of the wait.
    func awaitPredecessor(in run: Run) async throws {
        let begin = host.reportsCreations || run.recorded != nil ? host.elapsed() : nil
        defer {
            if let begin {
                let delay = host.elapsed() - begin
                noteDelay(delay)
                run.recorded?.noteDelay(delay)
            }
        }
        while let predecessor {
            self.predecessor = nil
            var isOver = true
            switch predecessor {
            case .disposal(let wait):
                // The wait keeps the earlier instance's leases.
                defer { forgetSuccessorWait() }
                isOver = try await wait.isOver(before: self, in: run)
            case .creation(let earlier):
                try await earlier.isOver(before: self, in: run)
            }
            switch isOver ? host.nextStep(of: self, after: predecessor) : .end {
            case .work:
                return
            case .wait(let next):
                self.predecessor = next
            case .end:
                // A reset or a new holder overtook the creation while it waited.
                _ = extras { $0.isOvertaken = true }
                host.abandon(self)
                throw CancellationError()
            }
        }
    }
}

extension Run {
    /// The path of an error for a creation that would wait for itself, through these runs.
    func cycle(through runs: [Run]) -> [PathStep] {
        (path + runs.flatMap(\.pathInCreation) + [step]).upToFirstRepetition
    }
}
