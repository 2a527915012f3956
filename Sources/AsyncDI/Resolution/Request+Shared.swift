/// Shared instances: found, awaited, or created in their own task.
extension Request {
    nonisolated(nonsending) func sharedInstance(
        _ binding: Binding, in place: any ResolutionHost, registrationCount: UInt, takesLease: Bool = false
    ) async throws -> Delivery? {
        // Nothing holds the product of a hidden registration.
        if !binding.blueprint.isHidden { try checkCaptive(binding, in: place) }
        let key = CreationKey(binding, pack)
        var attempt = JoinAttempt(registrationCount: registrationCount, mayWait: true, takesLease: takesLease)
        while true {
            attempt.mayWait = !Task.isCancelled
            switch place.join(key, for: self, attempt: attempt) {
            case .ready(let cell):
                return Delivery(cell: cell)
            case .makeStorage:
                attempt.offeredStorage = binding.lifetime.makeStorage?()
            case .load(let storage, let generation):
                guard let instance = storage.load() else {
                    attempt.emptyGeneration = generation
                    continue
                }
                guard let cell = binding.blueprint.factory.cell(for: instance) else {
                    throw ResolutionError(
                        .typeMismatch,
                        "the storage of \(binding.key) returned an instance of \(readableName(of: type(of: instance))).",
                        advice: "load() must return the instance that was passed to store(_:).",
                        steps: pathToHere, asker: asker)
                }
                guard takesLease else { return Delivery(cell: cell) }
                // Without a lease, it was reset or replaced since the load and must not be used.
                guard let lease = place.lease(key, loaded: cell, from: storage, generation: generation) else {
                    continue
                }
                return Delivery(cell: cell, lease: lease)
            case .stale:
                return nil
            case let decision:
                if let delivery = try await follow(decision) { return delivery }
            }
        }
    }

    /// An instance, as delivered to a request.
    struct Delivery {
        let cell: Cell
        /// The lease, taken in the step that found or finished the instance; nil if none was requested or the instance
        /// is unfinished.
        var lease: (any HeldLease)?
    }

    /// Begins a creation, and waits for it if it does not end at once.
    private nonisolated(nonsending) func launch(_ creation: Creation, for waiter: Waiter?) async throws -> Delivery? {
        switch creation.launch(for: waiter, onActor: isOnActor()) {
        case .ended(let outcome): try answer(outcome, of: creation)
        case .waits(let waiter): try await wait(as: waiter)
        }
    }

    /// Carries out the decision of a place, which may be to wait.
    ///
    /// - Returns: The instance; nil when the request must start over.
    nonisolated(nonsending) func follow(_ decision: JoinDecision) async throws -> Delivery? {
        switch decision {
        case .ready(let cell), .early(let cell):
            return Delivery(cell: cell)
        case .leased(let cell, let lease):
            return Delivery(cell: cell, lease: lease)
        case .wait(let waiter, let releasing):
            Waits.release(releasing)
            guard let measured = MeasuredWait(of: asker, for: waiter.creation) else {
                return try await wait(as: waiter)
            }
            return try await measured.measure { try await wait(as: waiter) }
        case .start(let creation, let waiter):
            guard let measured = MeasuredWait(of: asker, for: creation) else {
                return try await launch(creation, for: waiter)
            }
            return try await measured.measure { try await launch(creation, for: waiter) }
        case .ended(let outcome, let creation):
            return try answer(outcome, of: creation)
        case .captive(let holder, _):
            throw captive(holder, of: host, isResettable: false)
        case .cycle(let runs):
            throw circular(runs)
        case .refused:
            throw CancellationError()
        case .unusableArguments:
            throw ResolutionError(
                .invalidArgument,
                "the arguments of \(key) are not equal to themselves, so its instance could never be found again.",
                advice: "Do not pass NaN, check == of the arguments' types, or register the service as .transient.",
                steps: pathToHere, asker: asker)
        case .leasedAround(let container):
            throw ResolutionError(
                .invalidOperation,
                "\(key) was reset or replaced while an instance of \(container.displayName) leases it; its successor is "
                    + "created when that lease ends.",
                advice: "Request it outside \(container.displayName), or reset the instance that leases it first.",
                steps: pathToHere, asker: asker)
        case .disposed(let place):
            throw place.refusal(of: key, asker: asker)
        case .load, .makeStorage, .stale:
            return nil
        }
    }

    private func wait(
        as waiter: Waiter, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Delivery? {
        let creation = waiter.creation
        func answered(_ outcome: Waiter.Outcome) throws -> Delivery? {
            // The creation goes on after the end of its container, and the wait must not keep this request's run.
            if case .disposed = outcome { Waits.end(waiter) }
            return try answer(outcome, of: creation)
        }
        if let outcome = waiter.outcomeIfThere { return try answered(outcome) }
        await withTaskCancellationHandler {
            // Captured so that the closure and the code after it stay on the caller's executor.
            _ = isolation
            if host.stalls != nil {
                await watched(waitingFor: creation) { await waiter.wait() }
            } else {
                await waiter.wait()
            }
        } onCancel: {
            // The edge is removed first, so that the search for cycles does not follow a request that has ended. If the
            // creation's end has already resumed the waiter, all three calls do nothing.
            Waits.end(waiter)
            waiter.resume(.cancelled)
            creation.place.leave(waiter)
        }
        return try answered(waiter.outcome)
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
        let error = ResolutionError.circular(steps.upToFirstRepetition, asker: asker)
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
        waiting = asker?.holder.flatMap { $0.host.reportsCreations ? $0 : nil }
        let asking = asker?.creation
        starts = Self.meters(of: asker, for: creation).compactMap { $0.wait(of: asking, for: creation) }
        if waiting == nil, starts.isEmpty { return nil }
        waiting?.beginWait()
    }

    /// The starts that a wait may be part of: those of both containers, and those that wait for the waiting instance.
    ///
    /// A container that starts may need an instance of another one, mostly of one above it, which may need further
    /// ones.
    private static func meters(of asker: Run?, for creation: Creation) -> [StartMeter] {
        var meters = asker?.holder?.startsElsewhere ?? [:]
        func add(_ meter: StartMeter?) {
            if let meter, meter.isMeasuring { meters[ObjectIdentifier(meter)] = meter }
        }
        add(creation.host.startMeter)
        add(asker?.creation?.host.startMeter)
        return meters.isEmpty ? [] : Array(meters.values)
    }

    nonisolated(nonsending) func measure(
        _ wait: nonisolated(nonsending) () async throws -> Request.Delivery?
    ) async throws -> Request.Delivery? {
        do {
            let delivery = try await wait()
            end(isResult: delivery != nil)
            return delivery
        } catch {
            end(isResult: !Task.isCancelled, error)
            throw error
        }
    }

    private func end(isResult: Bool, _ error: (any Error)? = nil) {
        waiting?.endWait()
        for start in starts { start.end(isResult: isResult, error) }
    }
}
