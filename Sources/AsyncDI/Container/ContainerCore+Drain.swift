/// Draining: current work ends undisturbed, and new work is refused.
extension ContainerCore {
    func drain(deadline: Duration?) async throws {
        try refuseInsideOwnFactory(to: "drains")
        try refuseInsideLease(to: "drains")
        try refuseInsideBody()
        let caller = self.caller(of: ResolutionContext.activeRun)
        // Without a deadline, the bodies that the drain waits for name it.
        let drain = deadline == nil ? Completion() : nil
        if let drain { table.endlessDrains.loadOrInitialize { EndlessDrains() }.add(drain) }
        defer {
            if let drain { table.endlessDrains.object?.remove(drain) }
            drain?.finish()
        }
        let suspensions = [Suspension(), Suspension()]
        defer { if caller != nil { suspensions.forEach(Waits.end) } }
        for (suspension, target) in zip(suspensions, [disposal, drain].compactMap(\.self)) {
            guard let caller, let runs = Waits.begin(suspension, from: caller, for: target) else { continue }
            throw waitsForItself("drains \(displayName)", caller, runs, obstacle: "work in progress there")
        }
        table.isDrainRoot = true
        beginDraining()
        let quiet = Completion()
        Task.detached {
            await self.becomeQuiet()
            quiet.finish()
        }
        let isQuiet = await quiet.wait(atMost: deadline, clock: clock)
        // Not where another call has disposed the container meanwhile.
        if !isQuiet, !table.isClosed { table.isCutShortByDrain = true }
        guard let deadline else { return try await dispose() }
        // A lease or a hook that does not end must not hold up the end of the process. A disposal takes a while also
        // after a deadline that says now.
        try await dispose(deadline: max(deadline, .seconds(1)))
    }

    /// Drops the instances of a service for these arguments, and waits for their disposal, after their last lease.
    func drain(_ key: ServiceKey, _ pack: ArgumentPack, deadline: Duration?) async throws {
        guard let owner = owner(ofInherited: key) else { return try await drainHere(key, pack, deadline: deadline) }
        // Of a registration that this container had.
        if formerKeys(key, pack).isEmpty { return try await owner.drain(key, pack, deadline: deadline) }
        async let own = result { try await self.drainHere(key, pack, deadline: deadline) }
        async let inherited = result { try await owner.drain(key, pack, deadline: deadline) }
        let errors = await [own, inherited].compactMap(\.self)
        if let first = errors.first, errors.count == 1 || errors.allSatisfy({ $0 is ResolutionError }) { throw first }
        if !errors.isEmpty { throw DisposalError(errors: errors.flatMap { ($0 as? DisposalError)?.parts() ?? [$0] }) }
    }

    private func drainHere(_ key: ServiceKey, _ pack: ArgumentPack, deadline: Duration?) async throws {
        let target = ResetTarget.arguments(key, pack)
        let selection = selection(target)
        let former = formerKeys(key, pack)
        // Kept until the end, so that no other registration has the address of one of them.
        defer { withExtendedLifetime(former) {} }
        var drained = former
        if case .keys(let present) = selection { drained += present }
        let keys = Set(drained.map(EndingKey.init))
        // Its caller is about to move a file, and must not believe that it is closed.
        if keys.isEmpty, let mismatch = mismatchOfUnregistered(key) { throw mismatch }
        let isAffected = { (key: CreationKey) in keys.contains(EndingKey(key)) }
        try refuseInsideLease(of: isAffected, to: "drains \(key)")
        if deadline == nil {
            try refuseDuringLongLease(of: keys, key)
            try refuseDuringLeaseInsideBody(of: keys, key)
        }
        var creations: [EndOfCreation] = []
        var leased: [Disposable] = []
        let removals = try drop(target) { state in
            if !keys.isEmpty { leased = state.awaitLeases(of: keys, drainedBy: self) }
            // Excludes creations that other tasks begin from now on.
            let affected = state.flights.invalidated(where: isAffected)
            creations = affected.compactMap(\.end)
            // In this step: a creation's end must know whether a drain waits for the leases of its instance.
            for creation in creations { creation.noteDrain() }
            if let first = affected.first { state.holdOffSuccessorOfDrained(EndingKey(first.key)) }
        }
        for (core, wrappers) in dropWrappers(around: target) { core.dispose(of: wrappers) }
        let mayBeSeveral = drained.contains { !$0.binding.holdsOffSuccessors }
        // Includes instances that another reset or drain has dropped.
        func dropped() -> [Disposable] {
            withState { $0.dropped(keys, mayBeSeveral: mayBeSeveral) }
        }
        let disposables = Set(removals.disposables + removals.postponed + leased + dropped())
        Lease.noteLaterEnd(of: disposables.flatMap(\.leases))
        let begun = Result { try KeyDrain(of: key, in: self, awaiting: Array(disposables), creations) }
        dispose(of: removals)
        let drain = try begun.get()
        defer { drain.end() }
        try await drain.wait(until: deadline.map { stopwatch.elapsed() + $0.addable }, dropped)
    }

    /// The error of a drain, nil without one.
    private func result(_ drain: @Sendable () async throws -> Void) async -> (any Error)? {
        do {
            try await drain()
            return nil
        } catch {
            return error
        }
    }

    /// The container of an inherited registration, which has its instances, or of the one that this container
    /// decorates; nil for the container's own registrations.
    private func owner(ofInherited key: ServiceKey) -> ContainerCore? {
        guard !table.isClosed, var (binding, place) = table.registration(of: key) else { return nil }
        while binding.base?.isInherited == true, let inner = place.registration(beyondFor: key) {
            (binding, place) = inner
        }
        guard place !== table, binding.lifetime.sharing == .registeringContainer else { return nil }
        return place.host as? ContainerCore
    }

    /// The keys of replaced and removed registrations of a service, of which an instance may be in use or in creation.
    private func formerKeys(_ key: ServiceKey, _ pack: ArgumentPack) -> [CreationKey] {
        let unfinished = withState { state in
            // Most containers have none, and need no search.
            state.rarely(\.hasFormerRegistrations)
                ? [
                    state.leases.all.map(\.key), state.endings.values.map(\.key), state.closing.values.map(\.key),
                    state.flights.all.map(\.key),
                ]
                .joined().filter { $0.binding.key == key } : []
        }
        var seen: Set<ObjectIdentifier> = []
        return unfinished.filter { !$0.binding.isCurrent && seen.insert(ObjectIdentifier($0.binding)).inserted }
            .map { CreationKey($0.binding, pack) }
    }

    /// Refuses a drain in the body of a scope that ends after the scopes and containers inside it, one of which has an
    /// instance with a lease.
    private func refuseDuringLeaseInsideBody(of keys: Set<EndingKey>, _ key: ServiceKey) throws {
        let holders = withState {
            $0.leases.all(of: keys).reduce(into: Set<UInt64>()) { $0.formUnion($1.containersBelow) }
        }
        if holders.isEmpty { return }
        let scopes = Self.scopesOfBodies
        for scope in scopes {
            var pending = [scope]
            while let inside = pending.popLast() {
                // The body of another task ends by itself.
                if inside.hasBody, !scopes.contains(where: { $0 === inside }) { continue }
                if holders.contains(inside.number) {
                    throw ResolutionError(
                        .invalidOperation,
                        "the body of \(scope.displayName) drains \(key), which waits for an instance in "
                            + "\(inside.displayName) to end its lease.",
                        advice: "Call it outside the scope, end that lease first, or drain with a deadline.")
                }
                pending += inside.childCores
            }
        }
        guard let caller = caller(of: ResolutionContext.activeRun) else { return }
        let bodies = Body.all(around: caller).lazy.compactMap { $0 as? ScopeBody }
        if bodies.contains(where: { $0.isOfOpenScope && holders.contains($0.number) }) {
            throw waitsForItself("drains \(key)", caller, [], obstacle: "a lease in a scope whose body is around it")
        }
    }

    /// Refuses a drain that would wait as long as an instance that no scope ends, before it removes the leased
    /// instance.
    private func refuseDuringLongLease(of keys: Set<EndingKey>, _ key: ServiceKey) throws {
        let isLeasedForLong = withState { $0.leases.all(of: keys).contains(where: \.isLeasedForLong) }
        guard isLeasedForLong else { return }
        throw ResolutionError(
            .invalidOperation,
            "\(key) is drained while an instance that may live as long as \(displayName) leases it.",
            advice: "Reset that instance first, lease in a scope, or drain with a deadline.",
            steps: ResolutionContext.activeRun?.path ?? [], asker: ResolutionContext.activeRun)
    }

    /// Refuses a drain in the body of a `withScope` below, or in the work of an `OwnedScope`: the drain would wait for
    /// its own caller, or for a caller of that one.
    private func refuseInsideBody() throws {
        let works = CurrentContainers.all.compactMap { $0.openCore(below: nil, where: \.isDrained) }
        guard let current = works.first(where: isAboveOrSame) else { return }
        throw ResolutionError(
            .invalidOperation, "work in \(current.displayName) drains \(displayName), which waits for it.",
            advice: "Drain a container outside the bodies that use it.")
    }

    /// Refuses new work for requests from outside, here and in the containers below; not in the scopes of bodies, which
    /// are current work.
    func beginDraining() {
        var pending = [self]
        while let core = pending.popLast() {
            core.table.isDraining = true
            pending += core.childCores.filter { !$0.isDrained }
        }
    }

    /// Waits until every body and every creation has ended, here and below.
    private func becomeQuiet() async {
        // The body of a scope ends it.
        while hasBody, withState({ $0.life.isOpen }) { await nextEnd(of: .bodies) { $0.life.isOpen } }
        var wasBusy = true
        // From the beginning until no work is found: it may have begun work in a container that was quiet before.
        while wasBusy {
            wasBusy = false
            var pending = [self]
            while let core = pending.popLast() {
                while let work = core.withState({ $0.awaitedByDrains }) {
                    wasBusy = true
                    await core.nextEnd(of: work) { $0.awaitedByDrains == work }
                }
                pending += core.childCores
            }
        }
    }

    /// Whether the container is draining and a call of the current task would begin new work.
    ///
    /// Calls in a run, or in the body of a scope or lease that the drain waits for, belong to current work.
    var isRefusedWhileDraining: Bool {
        guard table.isDraining, ResolutionContext.activeRun == nil else { return false }
        let places = CurrentContainers.all
        // Several containers, one above the other, may be draining: each waits for the bodies below it alone. The
        // current container may be the draining one itself, or a scope that was opened by hand, which no drain waits
        // for.
        return lineage.contains { core in
            guard core.table.isDrainRoot, !LeaseContext.isWork(of: core) else { return false }
            // The drain of a body's scope waits for that body, too.
            let top = core.isDrained ? core.parent : core
            return !places.contains { $0.openCore(below: top, where: \.isDrained) != nil }
        }
    }

    /// The draining container that refuses to begin new work here for a request: the requested one, or this one.
    func refuser(of request: borrowing Request) -> (any ResolutionHost)? {
        if request.isRefusedWhileDraining { return request.host }
        // From outside, through a container that falls back on this one.
        guard table.isDraining, request.asker == nil, let asked = request.host as? ContainerCore,
            !isAboveOrSame(asked)
        else { return nil }
        return isRefusedWhileDraining ? self : nil
    }
}

extension ContainerCore.State {
    /// The work under way that a drain waits for, one kind after the other; nil without any.
    fileprivate var awaitedByDrains: Work? {
        life.isOpen ? [Work.bodies, .creations].first { isUnfinished($0) } : nil
    }
}

extension Request {
    /// Whether this request would begin new work in a draining container.
    var isRefusedWhileDraining: Bool { asker == nil && host.isRefusedWhileDraining }

    /// Refuses new work in a draining container.
    func refuseWhileDraining() throws {
        if isRefusedWhileDraining { throw host.refusal(of: key, asker: asker) }
    }
}
