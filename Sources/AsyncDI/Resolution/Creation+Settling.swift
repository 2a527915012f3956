/// The end of a creation, as the graph of waits decides it.
extension Creation {
    /// Ends the creation, or holds it until the instances that it received early are complete.
    ///
    /// - Returns: Whether the creation has ended.
    @discardableResult
    func settle(_ result: Result<Cell, any Error>, in run: Run) -> Bool {
        switch result {
        case .success(let instance):
            if !isInGraph, place.finishAlone(self, result) {
                forget()
                return true
            }
            // Before the graph's decision, after which the end of another creation may complete this one.
            show(instance)
            switch Waits.graph.withLock({ $0.ownWorkDone(self) }) {
            case .complete(let group):
                for member in group { member.asCreation?.succeed() }
                return true
            case .hold(let waiters):
                place.pin(self)
                Waits.release(waiters)
                return false
            case .fail(let cause):
                fail(with: cause.asCreation?.failure ?? CancellationError())
                return true
            }
        case .failure(let error):
            fail((error as? ResolutionError)?.relative(to: self, in: run) ?? error)
            return true
        }
    }

    private func succeed() {
        guard let instance else { preconditionFailure("a complete creation has an instance") }
        place.finish(self, .success(instance))
        forget()
    }

    private func fail(_ error: any Error) {
        if !isInGraph, place.finishAlone(self, .failure(error)) {
            forget()
            return
        }
        // For creations that fail with this one; without its runs, which refer back to this creation.
        let kept = ResolutionError.kept(error)
        _ = extras { $0.failure = kept }
        let others = Waits.graph.withLock { $0.fail(self) }
        place.finish(self, .failure(error))
        for other in others { other.asCreation?.fail(with: error) }
        forget()
        Waits.releaseDropped()
    }

    /// Ends a creation that received the unfinished instance of another one, which has failed since.
    ///
    /// A cancellation concerns the other creation's requests: those that wait for this creation start over.
    private func fail(with error: any Error) {
        if error is CancellationError { place.abandon(self) }
        fail(error)
    }

    /// Releases the instance, its storage and the requesting run, because a kept resolver keeps this creation.
    private func forget() {
        storageReference.giveUp()
        begunBy.giveUp()
        begunIn.giveUp()
        let dropped = extrasIfAny { state in
            (state.instance.take(), state.task.take(), exchange(&state.startsElsewhere, with: [:]))
        }
        withExtendedLifetime(dropped) {}
    }
}
