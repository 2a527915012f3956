/// What came of a request for a shared instance as far as it goes without suspending.
@usableFromInline enum SharedStart {
    case instance(Cell)
    /// Somebody makes it, and this waits.
    case begun(BegunRequest)
    /// Not answered here: to be asked for in the usual way.
    case other
}

/// A request for a shared instance that has been decided upon and must now suspend.
///
/// There may be thousands of them: what lives while they wait is kept small, in memory that each task has without asking for more.
@usableFromInline struct BegunRequest: Sendable {
    private let creation: Creation
    private let waiter: Waiter
    private let host: any ResolutionHost

    fileprivate init(_ creation: Creation, _ waiter: Waiter, host: any ResolutionHost) {
        self.creation = creation
        self.waiter = waiter
        self.host = host
    }

    /// Waits for the instance; nil when it must be asked for again.
    @usableFromInline
    func cell(isolation: isolated (any Actor)? = #isolation) async throws -> Cell? {
        creation.escalate(to: Task.currentPriority)
        if host.stalls == nil { await wait() } else { await watchedWait() }
        return try answer()
    }

    private func wait(isolation: isolated (any Actor)? = #isolation) async {
        let (creation, waiter) = (creation, waiter)
        await withTaskCancellationHandler {
            // Captured so that the closure, and what comes after it, stays on the caller's executor.
            _ = isolation
            await creation.suspend(waiter)
        } onCancel: {
            waiter.resume(.cancelled)
            creation.place.leave(creation, waiter: waiter)
        }
    }

    // Not inlined, so that what they need is not kept for everybody who waits.

    @inline(never)
    private func watchedWait(isolation: isolated (any Actor)? = #isolation) async {
        await request.watched(waitingFor: creation) {
            _ = isolation
            await wait()
        }
    }

    @inline(never)
    private func answer() throws -> Cell? {
        let outcome = waiter.outcome
        // Said by itself, because that is what nearly everybody gets.
        if case .instance(let cell) = outcome { return cell }
        guard case .answer(let cell) = try request.answer(outcome, of: creation) else { return nil }
        return cell
    }

    private var request: Request { Request(key: creation.recipe.key, pack: .none, host: host, asker: nil) }
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
                return .begun(BegunRequest(creation, waiter, host: self))
            }
        case .wait(let creation, let waiter, _):
            return .begun(BegunRequest(creation, waiter, host: self))
        default:
            return .other
        }
    }
}
