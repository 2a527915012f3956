/// Shared instances: found, awaited, or created in their own task.
extension Request {
    nonisolated(nonsending) func sharedInstance(
        _ binding: Binding, in place: any ResolutionHost, registrationCount: UInt, takesLease: Bool = false
    ) async throws -> Delivery? {
        // Nothing holds the product of a hidden registration.
        if !binding.blueprint.isHidden { try checkCaptive(binding, in: place) }
        if !takesLease, binding.key.arguments != nil, holder != nil { binding.noteHolder() }
        let key = CreationKey(binding, pack)
        var attempt = JoinAttempt(registrationCount: registrationCount, mayWait: true, takesLease: takesLease)
        while true {
            switch try join(key, in: place, attempt: &attempt, onActor: isOnActor()) {
            case .delivered(let delivery):
                return delivery
            case .waits(let waiter, let measured):
                if let delivery = try await wait(as: waiter, measured) { return delivery }
            }
        }
    }

    /// The result of the part of a request that does not suspend.
    private enum Step {
        /// The instance; nil when the request must start over.
        case delivered(Delivery?)
        case waits(Waiter, MeasuredWait?)
    }

    /// Finds, joins or begins a creation.
    ///
    /// Not asynchronous, so that the memory of a task that waits does not include the variables of the decision.
    ///
    /// - Returns: The next step; `.delivered(nil)` if the registration was replaced meanwhile.
    private func join(
        _ key: CreationKey, in place: any ResolutionHost, attempt: inout JoinAttempt, onActor isOnActor: Bool
    ) throws -> Step {
        while true {
            attempt.mayWait = !Task.isCancelled
            switch place.join(key, for: self, attempt: attempt) {
            case .ready(let cell):
                return .delivered(Delivery(cell: cell))
            case .makeStorage:
                attempt.offeredStorage = key.binding.lifetime.makeStorage?()
            case .load(let storage, let generation):
                if let delivery = try load(key, from: storage, generation, in: place, attempt: &attempt) {
                    return .delivered(delivery)
                }
            case .stale:
                return .delivered(nil)
            case let decision:
                let step = try begin(decision, onActor: isOnActor)
                if case .delivered(nil) = step { continue }
                return step
            }
        }
    }

    /// The instance of a storage; nil if the container must be asked again.
    private func load(
        _ key: CreationKey, from storage: any InstanceStorage, _ generation: Int, in place: any ResolutionHost,
        attempt: inout JoinAttempt
    ) throws -> Delivery? {
        guard let instance = storage.load() else {
            attempt.emptyGeneration = generation
            return nil
        }
        let cell = try key.binding.cell(stored: instance, steps: pathToHere, asker: asker)
        guard attempt.takesLease else { return Delivery(cell: cell) }
        // Without a lease, it was reset or replaced since the load and must not be used.
        return place.lease(key, loaded: cell, from: storage, generation: generation).map {
            Delivery(cell: cell, lease: $0)
        }
    }

    /// An instance, as delivered to a request.
    struct Delivery {
        let cell: Cell
        /// The lease, taken in the step that found or finished the instance; nil if none was requested or the instance
        /// is unfinished.
        var lease: (any HeldLease)?
    }

    /// Carries out the decision of a place, which may be to wait.
    ///
    /// - Returns: The instance; nil when the request must start over.
    nonisolated(nonsending) func follow(_ decision: JoinDecision) async throws -> Delivery? {
        switch try begin(decision, onActor: isOnActor()) {
        case .delivered(let delivery): delivery
        case .waits(let waiter, let measured): try await wait(as: waiter, measured)
        }
    }

    /// Carries out the decision of a place as far as that does not suspend.
    private func begin(_ decision: JoinDecision, onActor isOnActor: Bool) throws -> Step {
        switch decision {
        case .ready(let cell), .early(let cell):
            return .delivered(Delivery(cell: cell))
        case .leased(let cell, let lease):
            return .delivered(Delivery(cell: cell, lease: lease))
        case .wait(let waiter, let releasing):
            Waits.release(releasing)
            return .waits(waiter, MeasuredWait(of: asker, for: waiter.creation))
        case .start(let creation, let waiter):
            let measured = MeasuredWait(of: asker, for: creation)
            switch creation.launch(for: waiter, onActor: isOnActor) {
            case .waits(let waiter):
                return .waits(waiter, measured)
            case .ended(let outcome):
                let result = Result { try answer(outcome, of: creation) }
                measured?.end(result)
                return .delivered(try result.get())
            }
        case .ended(let outcome, let creation):
            return .delivered(try answer(outcome, of: creation))
        case .captive(let holder, _):
            throw captive(holder, of: host, isResettable: false)
        case .cycle(let runs):
            throw circular(runs)
        case .refused:
            throw CancellationError()
        case .unusableArguments:
            throw failure(
                .invalidArgument,
                "the arguments of \(key) are not equal to themselves, so its instance could never be found again.",
                advice: "Do not pass NaN, check == of the arguments' types, or register the service as .transient.")
        case .leasedAround(let container):
            throw failure(
                .invalidOperation,
                "\(key) was reset or replaced while an instance in \(container.displayName) leases it; its successor is "
                    + "created when that lease ends.",
                advice: "Request it outside \(container.displayName), or reset the instance that leases it first.")
        case .disposed(let place):
            throw place.refusal(of: key, asker: asker)
        case .load, .makeStorage, .stale:
            return .delivered(nil)
        }
    }

    /// Waits for a creation.
    ///
    /// - Returns: The instance; nil when the request must start over.
    private nonisolated(nonsending) func wait(as waiter: Waiter, _ measured: MeasuredWait?) async throws -> Delivery? {
        if waiter.outcomeIfThere == nil {
            if host.stalls == nil { await waiter.settled() } else { await waitWatched(as: waiter) }
        }
        let outcome = waiter.outcome
        // The creation goes on after the end of its container, and the wait must not keep this request's run.
        if case .disposed = outcome { Waits.end(waiter) }
        let result = Result { try answer(outcome, of: waiter.creation) }
        measured?.end(result)
        return try result.get()
    }

    /// The instance that a wait ended with; nil when the request must start over.
    func answer(_ outcome: Waiter.Outcome, of creation: Creation) throws -> Delivery? {
        switch outcome {
        case .instance(let cell): return Delivery(cell: cell)
        case .leased(let cell, let lease): return Delivery(cell: cell, lease: lease)
        case .retry: return nil
        case .failure(let error): throw delivered(error, by: creation)
        case .cancelled: throw CancellationError()
        case .disposed: throw (creation.home ?? host).disposedError(key, asker: asker)
        }
    }

    /// The error of a creation, as delivered to this request.
    func delivered(_ error: any Error, by creation: Creation) -> any Error {
        (error as? ResolutionError)?.delivered(by: creation, to: asker) ?? error
    }

    // MARK: Rules

    /// Throws if the requested instance could end before the shared creation's product: because its scope ends first,
    /// or because it can be reset.
    func checkCaptive(in place: any ResolutionHost, isScoped: Bool, isResettable: Bool) throws {
        if isUnheld { return }
        if let holder = asker?.holder {
            try checkCaptive(holder, in: place, isScoped: isScoped, isResettable: isResettable)
        }
        if let heldBy { try checkCaptive(heldBy, in: place, isScoped: isScoped, isResettable: isResettable) }
    }

    /// The same for an instance of a registration.
    func checkCaptive(_ binding: Binding, in place: any ResolutionHost) throws {
        try checkCaptive(
            in: place, isScoped: binding.lifetime.sharing == .resolvingContainer,
            isResettable: binding.lifetime.isResettable)
    }

    private func checkCaptive(
        _ holder: Creation, in place: any ResolutionHost, isScoped: Bool, isResettable: Bool
    ) throws {
        // A hidden creation has no product.
        guard let home = holder.home, !holder.binding.blueprint.isHidden else { return }
        let rule = CaptiveRule<any ResolutionHost>(parent: { $0.parentHost }, areSame: ===)
        guard
            rule.forbids(
                holderIn: home, outlivingScopes: holder.binding.lifetime.outlivesScopes, instanceIn: place,
                isScoped: isScoped, isResettable: isResettable)
        else { return }
        throw captive(
            holder, of: place, isResettable: isResettable && holder.binding.lifetime.outlivesScopes)
    }

    /// The error for a creation whose product would hold the requested instance.
    private func captive(_ holder: Creation, of place: any ResolutionHost, isResettable: Bool) -> ResolutionError {
        let lifetime = isResettable ? host.table.registration(of: key)?.binding.lifetime : nil
        return .captive(
            holder.binding, in: holder.home ?? holder.host, holding: key, of: place, resetWith: lifetime,
            steps: pathToHere, asker: asker)
    }

    /// The error for a request that would close a cycle; the runs lead from the requested service to this task's
    /// creation.
    func circular(_ runs: [Run]) -> ResolutionError {
        let binding = host.table.registration(of: key)?.binding
        let target = PathStep(
            key: binding?.blueprint.target?.from ?? key,
            binding: binding?.blueprint.target.flatMap { host.table.registration(of: $0.from)?.binding } ?? binding,
            pack: pack)
        if asker == nil, !runs.isEmpty { return .circularInBody(target, runs) }
        var steps = asker?.path ?? []
        if !runs.isEmpty, let asker {
            for run in runs { steps += run.pathInCreation }
            steps += asker.pathInCreation
        }
        steps.append(target)
        for run in runs {
            let error = run.creation?.successorWait?.leasedAround(steps.upToFirstRepetition, asker: asker)
            if let error { return error }
        }
        let error = ResolutionError.circular(steps.upToFirstRepetition, through: runs, asker: asker)
        return asker?.isInsideRepetition == true ? error.betweenReplacements : error
    }
}

/// A wait, measured for observers and for the report of a start.
private struct MeasuredWait {
    /// The shared creation that waits, where observers receive its own time.
    private let waiting: Creation?
    private let starts: [StartMeter.Wait]

    /// Returns nil when neither an observer of creations nor a start needs the measurement.
    init?(of asker: Run?, for creation: Creation) {
        // Not the holder of the instance, which has ended when its `Lazy` is called.
        let owner = asker?.activity?.sharedCreation
        // Its own graph is no other shared instance.
        if creation.home == nil, !creation.isGraphInstance(outside: owner) { return nil }
        waiting = owner.flatMap { $0.host.reportsCreations ? $0 : nil }
        let asking = asker?.creation
        starts = Self.meters(of: owner, for: creation).compactMap { $0.wait(of: asking, for: creation) }
        if waiting == nil, starts.isEmpty { return nil }
        waiting?.beginWait()
    }

    /// The starts that a wait may be part of: those of both containers, and those that wait for the waiting instance.
    ///
    /// A container that starts may need an instance of another one, mostly of one above it, which may need further
    /// ones.
    private static func meters(of waiting: Creation?, for creation: Creation) -> [StartMeter] {
        var meters = waiting?.startsElsewhere ?? [:]
        func add(_ meter: StartMeter?) {
            if let meter, meter.isMeasuring { meters[ObjectIdentifier(meter)] = meter }
        }
        add(creation.host.startMeter)
        add(waiting?.host.startMeter)
        return meters.isEmpty ? [] : Array(meters.values)
    }

    func end(_ result: Result<Request.Delivery?, any Error>) {
        switch result {
        case .success(let delivery): end(isResult: delivery != nil)
        case .failure(let error): end(isResult: !Task.isCancelled, error)
        }
    }

    private func end(isResult: Bool, _ error: (any Error)? = nil) {
        waiting?.endWait()
        for start in starts { start.end(isResult: isResult, error) }
    }
}
