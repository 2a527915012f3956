/// Errors that name similar registrations.
extension ContainerCore {
    func disposedError(_ key: ServiceKey?, asker: Run?) -> ResolutionError {
        disposedError(key, "requested from", asker: asker)
    }

    func checkOpen() throws {
        if withState({ !$0.life.isOpen }) { throw disposedError(nil, asker: nil) }
    }

    private func disposedError(_ key: ServiceKey?, _ action: String, asker: Run?) -> ResolutionError {
        var steps = asker?.path ?? []
        if let key { steps.append(PathStep(key: key)) }
        let what = key.map { "\($0) was \(action) \(displayName), which" } ?? displayName
        if table.isDraining, !table.isClosed {
            return ResolutionError(
                .disposed, "\(what) is draining, and begins no new work.",
                advice: "Refuse new requests before the drain; work that has begun resolves in its own task or scope.",
                steps: steps, asker: asker)
        }
        if table.isDropped {
            return ResolutionError(
                .disposed, "\(what) has been released: nothing refers to it any more.",
                advice: "Keep a reference to the container for as long as anything that it created is in use.",
                steps: steps, asker: asker)
        }
        return ResolutionError(
            .disposed, "\(what) is disposed.",
            advice: asker?.isDisposing == true
                ? "What a hook needs at the end, the factory must have resolved before."
                : "Dispose a container after its last use, and create a new one for later work.",
            steps: steps, asker: asker)
    }

    /// The error for a registration in a disposed container.
    func refusal(toRegister key: ServiceKey?) -> ResolutionError { disposedError(key, "registered in", asker: nil) }

    func refusal(of key: ServiceKey, asker: Run?) -> ResolutionError {
        // A factory or hook that the container waits for has not outlived it.
        if asker?.isAwaitedByDisposal != true { settings.interceptors.didRefuse(key) }
        return disposedError(key, asker: asker)
    }

    func mismatch(_ key: ServiceKey, asker: Run?) -> ResolutionError? {
        let (name, plain) = (ServiceName(key), key.withoutArguments)
        let others = searchOrder.flatMap { core in
            core.withState { $0.registrations.keys(named: name) }
                .filter { $0.arguments != key.arguments && $0.withoutArguments == plain }
        }
        return ResolutionError.mismatch(key, registeredAs: others, asker: asker)
    }

    func miss(_ key: ServiceKey, asker: Run?) -> ResolutionError {
        // A disposal that ended since the look-up has removed every registration.
        table.isClosed ? refusal(of: key, asker: asker) : NearMisses(in: self).miss(key, asker: asker)
    }

    func supplierAround(of key: ServiceKey) -> (any ResolutionHost)? {
        CurrentContainers.all.first { core in
            !core.isAboveOrSame(self) && !isAboveOrSame(core)
                && core.withState { _ in core.table.ownRegistration(of: key)?.blueprint.isExpected == false }
        }
    }

    /// The error for arguments of other types than those that the service is registered with; nil for any others.
    func mismatchOfUnregistered(_ key: ServiceKey) -> ResolutionError? {
        table.registration(of: key) == nil && !table.isClosed
            ? mismatch(key, asker: ResolutionContext.activeRun) : nil
    }

    func suppliedKeys(near key: ServiceKey) -> [ServiceKey] { NearMisses(in: self).suppliedKeys(near: key) }

    /// The containers that a request to this one searches.
    var searchOrder: [ContainerCore] {
        var order: [ContainerCore] = []
        _ = searches { core in
            order.append(core)
            return false
        }
        return order
    }

    /// Whether one of the containers that a request to this one searches meets a condition.
    func searches(_ condition: (ContainerCore) -> Bool) -> Bool {
        table.firstTable { ($0.host as? ContainerCore).map(condition) == true ? true : nil } != nil
    }
}
