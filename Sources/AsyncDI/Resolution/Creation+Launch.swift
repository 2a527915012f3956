extension Creation {
    /// The outcome of a creation when its launcher continues.
    enum Launch {
        case ended(Waiter.Outcome)
        case waits(Waiter)
    }

    /// Launches the creation for a request, which waits for it or, without a waiter, attends it.
    ///
    /// An attended creation has usually ended when this returns. Otherwise the request becomes a waiter.
    func launch(for waiter: Waiter?, onActor isOnActor: Bool) -> Launch {
        launch(onActor: isOnActor)
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
            // The creation ended between the two checks: on another thread, after it had suspended.
            Waits.end(waiter)
            return .ended(takeAttendedOutcome() ?? .retry)
        }
    }
}
