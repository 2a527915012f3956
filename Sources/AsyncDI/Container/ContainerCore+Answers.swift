/// The part of a request without qualifier that needs no suspension.
extension ContainerCore {
    /// The answer to a request from outside every run.
    func find(_ service: any Any.Type, onActor isOnActor: Bool) -> Answer {
        guard let found = table.find(service) else { return beginShared(service, onActor: isOnActor) }
        return found.answer(from: self, table)
    }

    /// The answer to a request with arguments.
    func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> ArgumentsAnswer? {
        table.find(service, arguments, hash: hash)?.answer(from: self, pack)
    }

    /// The answer for a service without a published instance.
    func beginShared(_ service: any Any.Type, onActor isOnActor: Bool) -> Answer {
        // The body of a lease waits for creations that begin in it, which takes the general path.
        guard LeaseContext.body == nil else { return .other(nil) }
        return Request.beginShared(service, from: self, table, asker: nil, onActor: isOnActor)
    }
}

extension Request {
    /// Finds, creates or joins an unpublished shared instance of a service, without qualifier and arguments.
    ///
    /// Not asynchronous, so that a creation that ends at once costs only its task. The caller has checked that no
    /// recording runs.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - host: The requested container.
    ///   - table: Its table.
    ///   - asker: The requesting run; nil outside every activity.
    ///   - isOnActor: Whether the requesting code runs on an actor.
    /// - Returns: The answer; `.other(nil)` if further rules must be checked.
    @inline(never)
    static func beginShared(
        _ service: any Any.Type, from host: any ResolutionHost, _ table: InstanceTable, asker: Run?,
        onActor isOnActor: Bool
    ) -> Answer {
        let registrationCount = RegistrationCounter.now
        guard let (binding, owner) = table.unobstructedRegistration(of: service), binding.isPlainShared else {
            return .other(nil)
        }
        let request = Request(key: binding.key, pack: .none, host: host, asker: asker)
        let place: any ResolutionHost = binding.lifetime.sharing == .resolvingContainer ? host : owner.host
        if let holder = asker?.holder {
            // The general path checks and measures, and reports errors and events.
            guard !holder.host.reportsCreations, place.startMeter == nil, holder.host.startMeter == nil,
                !holder.isFollowedElsewhere, (try? request.checkCaptive(binding, in: place)) != nil
            else { return .other(nil) }
        }
        let attempt = JoinAttempt(registrationCount: registrationCount, mayWait: !Task.isCancelled)
        switch place.join(CreationKey(withoutArguments: binding), for: request, attempt: attempt) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, let waiter):
            switch creation.launch(for: waiter, onActor: isOnActor) {
            case .ended(.instance(let cell)): return .instance(cell)
            case .ended(let outcome): return .other(DecidedRequest(request, for: binding, .ended(outcome, creation)))
            case .waits(let waiter): return request.waits(waiter, releasing: [])
            }
        case .wait(let waiter, let releasing):
            return request.waits(waiter, releasing: releasing)
        case let decision:
            return .other(DecidedRequest(request, for: binding, decision))
        }
    }

    private func waits(_ waiter: Waiter, releasing: [Waits.Graph.Released]) -> Answer {
        if asker == nil, releasing.isEmpty, host.stalls == nil, waiter.creation.host === host { return .wait(waiter) }
        // A repeated request uses this container, not the one that creates the instance; and observers may want to know
        // of a long wait.
        return .other(DecidedRequest(self, for: waiter.creation.binding, .wait(waiter, releasing: releasing)))
    }
}
