extension Creation {
    /// The outcome of a creation when its launcher goes on.
    enum Launch {
        case ended(Waiter.Outcome)
        case waits(Waiter)
    }

    /// Launches the creation for a request that waits for it, or that attends it while there is no waiter yet.
    ///
    /// Attended, it is mostly over when this returns. If it is not, the request becomes a waiter.
    func launch(for waiter: Waiter?) -> Launch {
        launch()
        if let waiter { return .waits(waiter) }
        if let outcome = takeAttendedOutcome() {
            if isInGraph { Waits.forgetAttendance(of: self) }
            return .ended(outcome)
        }
        let waiter = Waits.waiter(attending: self)
        switch place.attendNoMore(waitingAs: waiter) {
        case .wait:
            return .waits(waiter)
        case .closed:
            Waits.end(waiter)
            return .ended(.disposed)
        case .ended:
            // It ended between the two questions: on another thread, after it had suspended.
            Waits.end(waiter)
            return .ended(takeAttendedOutcome() ?? .retry)
        }
    }
}
