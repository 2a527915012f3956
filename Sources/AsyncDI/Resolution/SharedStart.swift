/// What came of a request for a shared instance as far as it goes without suspending.
@usableFromInline enum SharedStart {
    case instance(Cell)
    /// Somebody makes it, and this waits.
    case begun(BegunRequest)
    /// Not answered here: to be asked for in the usual way.
    case other
}

/// A request for a shared instance that has been decided upon and must now suspend.
@usableFromInline final class BegunRequest: Sendable {
    private let request: Request
    private let decision: JoinDecision

    init(_ request: Request, _ decision: JoinDecision) {
        self.request = request
        self.decision = decision
    }

    /// Carries the decision out.
    @usableFromInline
    nonisolated(nonsending) func value<Service: Sendable>(as service: Service.Type) async throws -> Service {
        guard case .answer(let cell) = try await request.follow(decision), let instance = cell.load(as: service) else {
            return try await request.resolve(service)
        }
        return instance
    }
}

extension ResolutionHost {
    /// Finds, makes or joins the shared instance of a service without qualifier and arguments, for a request from outside every factory.
    func beginShared(_ service: any Any.Type) throws -> SharedStart {
        let clock = RegistrationClock.now
        let key = ServiceKey(service)
        guard !table.hasObstacles, let (recipe, owner) = table.registration(of: key), recipe.isPlainShared,
            !owner.isClosed
        else {
            return .other
        }
        let request = Request(key: key, pack: .none, host: self, asker: nil)
        let place: any ResolutionHost = recipe.lifetime.sharing == .asked ? self : owner.host
        let attempt = JoinAttempt(clock: clock, mayWait: !Task.isCancelled)
        switch place.join(CreationKey(withoutArguments: recipe), for: request, attempt: attempt) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, let waiter):
            switch request.launch(creation, waiter: waiter) {
            case .ended(.instance(let cell)):
                return .instance(cell)
            case .ended(let outcome):
                if case .answer(let cell) = try request.answer(outcome, of: creation) { return .instance(cell) }
                return .other
            case .waits(let waiter):
                return .begun(BegunRequest(request, .wait(creation, waiter, releasing: [])))
            }
        case .stale:
            return .other
        case let decision:
            return .begun(BegunRequest(request, decision))
        }
    }
}
