/// Requests without qualifier and arguments from outside every factory, as far as possible without suspending.
extension ContainerCore {
    func find(_ service: any Any.Type) -> Answer {
        guard let found = table.find(service) else { return beginShared(service) }
        return found.answer(from: self, table, to: nil)
    }

    /// Finds, creates or joins the shared instance of a service without qualifier and arguments, for a request from
    /// outside every factory.
    ///
    /// Not asynchronous, so that a creation that is over at once costs only the task that it runs in.
    @inline(never)
    func beginShared(_ service: any Any.Type) -> Answer {
        let clock = RegistrationCounter.now
        let key = ServiceKey(service)
        guard !table.hasObstacles, stalls == nil, LeaseContext.peek.isNil,
            let (binding, owner) = table.registration(of: key),
            binding.isPlainShared, !owner.isClosed
        else {
            return .other(nil)
        }
        let request = Request(key: key, pack: .none, host: self, asker: nil)
        let place: any ResolutionHost = binding.lifetime.sharing == .resolvingContainer ? self : owner.host
        let attempt = JoinAttempt(clock: clock, mayWait: !Task.isCancelled)
        switch place.join(CreationKey(withoutArguments: binding), for: request, attempt: attempt) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, let waiter):
            switch creation.launch(for: waiter) {
            case .ended(.instance(let cell)): return .instance(cell)
            case .ended(let outcome): return .other(DecidedRequest(request, for: binding, .ended(outcome, creation)))
            case .waits(let waiter): return begun(waiter, request)
            }
        case .wait(let waiter, _):
            // Only a request from inside a creation can resume others.
            return begun(waiter, request)
        default:
            return .other(nil)
        }
    }

    private func begun(_ waiter: Waiter, _ request: @autoclosure () -> Request) -> Answer {
        if waiter.creation.host === self { return .wait(waiter) }
        // A repeated request is made there, and not here where the instance is created.
        return .other(DecidedRequest(request(), for: waiter.creation.binding, .wait(waiter, releasing: [])))
    }
}
