/// Refuses calls that would wait for a disposal that waits for them.
extension ContainerCore {
    /// Throws if the disposal would wait for the caller's own factory or lease.
    func refuseDisposalHere() throws {
        try refuseInsideOwnFactory(to: "disposes")
        try refuseInsideLease(to: "disposes")
    }

    /// Throws if a factory would wait for the disposal of its own waiter, which would never end.
    func refuseInsideOwnFactory(to action: String) throws {
        guard let asker = ResolutionContext.activeRun else { return }
        for current in sequence(first: asker, next: \.parent) {
            // The hooks of a disposal may begin another disposal.
            if current.parent == nil, current.isDisposing { return }
            let places = [current.host, current.holder?.home].compactMap { $0 as? ContainerCore }
            if places.contains(where: isAboveOrSame) {
                throw ResolutionError(
                    .invalidOperation,
                    "the factory of \(current.binding.key) \(action) \(displayName), which waits for it.",
                    advice: "Dispose a container from outside its factories.", steps: asker.path, asker: asker)
            }
        }
    }

    /// Throws if the current body of a `withInstance` holds a lease that the disposal would wait for.
    func refuseInsideLease(to action: String) throws {
        guard LeaseContext.leases(from: self) else { return }
        throw ResolutionError(
            .invalidOperation,
            "the body of a withInstance \(action) \(displayName), which waits for its lease to end.",
            advice: "Dispose a container after the bodies that use its instances.")
    }

    /// Refuses an action that would wait for a body or factory around the caller, which leases one of these instances
    /// or ends before the lease.
    func refuseInsideLease(of isMeant: (CreationKey) -> Bool, to action: String) throws {
        func isAwaited(_ lease: Lease) -> Bool { lease.core === self && isMeant(lease.key) }
        if LeaseContext.leases(isAwaited) {
            throw ResolutionError(
                .invalidOperation, "the body of a withInstance \(action), which waits for its lease to end.",
                advice: "Call it after the bodies that use the instance.")
        }
        let bodies = Self.scopesOfBodies.map { (scope: $0, work: "body", holder: $0.body) }
        let parts = LeaseContext.scopesOfWork.map { (scope: $0, work: "work", holder: $0.bodyReference.object) }
        for (scope, work, holder) in bodies + parts where holder?.held.contains(where: isAwaited) == true {
            throw ResolutionError(
                .invalidOperation,
                "the \(work) of \(scope.displayName) \(action), which waits for an instance of that scope to end its "
                    + "lease.",
                advice: "Call it outside the scope, or reset the instance that holds the lease first.")
        }
        guard let asker = ResolutionContext.activeRun else { return }
        for creation in sequence(first: asker, next: \.parent).lazy.compactMap(\.creation)
        where creation.heldLeases.contains(where: { ($0 as? Lease).map(isAwaited) ?? false }) {
            throw ResolutionError(
                .invalidOperation,
                "the factory of \(creation.binding.key) \(action), which waits for the end of the factory's own lease.",
                advice: "Call it before the factory takes the lease, or outside the factory.", steps: asker.path,
                asker: asker)
        }
        // The task of a shared creation or of a disposal does not inherit the bodies around its beginning.
        guard let caller = caller(of: asker) else { return }
        if Body.all(around: caller).contains(where: { $0.isOutlasted(byLease: isAwaited) }) {
            throw waitsForItself(action, caller, [], obstacle: "a lease that ends after the body around it")
        }
    }

    /// The call of the current task that waits for a disposal of this container.
    ///
    /// Nil for a body of a scope here or below, outside every other activity: the disposal ends the scope meanwhile.
    var callerOfDisposal: Caller? {
        var caller = self.caller(of: ResolutionContext.activeRun)
        guard caller?.activity.isBodyOfScope == true else { return caller }
        for scope in Self.scopesOfBodies where isAboveOrSame(scope) {
            if let body = scope.body, body === caller?.activity { caller = body.enclosing }
        }
        return caller
    }

    /// The scopes in whose bodies the current task may be, each before the ones around it.
    static var scopesOfBodies: [ContainerCore] {
        var scopes: [ContainerCore] = []
        for core in CurrentContainers.all.flatMap(\.lineage) where core.hasBody && !core.table.isClosed {
            if !scopes.contains(where: { $0 === core }) { scopes.append(core) }
        }
        return scopes
    }

    /// The error for a call that would wait for its own caller.
    func waitsForItself(
        _ action: String, _ caller: Caller, _ runs: [Run], obstacle: String? = nil
    ) -> ResolutionError {
        let path = caller.run?.path ?? []
        let isWork = (caller.activity as? LeaseBody)?.held.contains { $0 is PartOfWork } == true
        let body =
            caller.activity.isBodyOfScope
            ? "the body of a withScope" : isWork ? "the work of an OwnedScope" : "the body of a withInstance"
        let name =
            caller.run.map { "the \($0.isDisposing ? "onDispose hook" : "factory") of \($0.binding.key)" } ?? body
        let obstacle =
            obstacle
            ?? (caller.run.map { $0.isDisposing ? "work that ends after it" : "a creation in progress there" }
                ?? (caller.activity.isBodyOfScope || isWork
                    ? "a lease that ends with the scope" : "work that ends after it"))
        return ResolutionError(
            .invalidOperation, "\(name) \(action), which waits for \(obstacle).",
            advice: "Call it outside the factories, hooks and bodies that it waits for.",
            steps: path + runs.flatMap(\.pathInCreation), asker: caller.run)
    }
}

/// The errors of disposals.
extension ContainerCore {
    /// Tells observers of a missed deadline of this container's disposal, whose caller throws another error.
    func noteTimeout(_ error: any Error) {
        // The last one: the others are those of hooks.
        let error = (error as? DisposalError)?.errors.last ?? error
        guard ResolutionError.Code.disposalTimedOut ~= error, let keys = disposalUnderWay?.subject?.facts(in: self).keys
        else {
            return
        }
        withState { state in
            for key in keys where !key.binding.blueprint.isHidden {
                state.note(.failed, of: key.arguments, .failed(key.binding.key, error))
            }
        }
    }

    /// The error of a deadline, with the registration that the disposal waits for, if it is a single one.
    func timedOut(_ disposal: String, waitingFor current: String, of keys: [CreationKey]) -> ResolutionError {
        // Without the binding and the arguments, which errors do not keep alive.
        let steps = keys.map { key in
            PathStep(key: key.binding.key, site: key.binding.blueprint.site)
        }
        return ResolutionError(
            .disposalTimedOut, "\(disposal) did not end by its deadline: it waits for \(current).",
            advice: "It continues in the background; look for a hook, a factory or a body that does not return.",
            steps: steps.count == 1 ? steps : [])
    }

    /// The error that hooks receive when a scope or a creation ends before its work is done.
    static func cutShort(_ place: any ResolutionHost) -> ResolutionError {
        var message = "\(place.displayName) was disposed before its work was done"
        var advice = "Let work end first: drain() waits for running bodies, and withScope ends with its body."
        let core = (place as? ContainerCore).flatMap { $0.isDrained ? $0 : nil }
        if let drained = core?.lineage.first(where: { $0.table.isCutShortByDrain }) {
            message += ", at the end of the drain of \(drained.displayName)"
            advice = "Give the drain more time, or look for work that does not return."
        }
        return ResolutionError(.disposed, message + ".", advice: advice)
    }
}
