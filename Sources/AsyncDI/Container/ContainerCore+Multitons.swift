/// Bounded multitons: the order of use, and the task that evicts idle instances.
extension ContainerCore {
    /// The time since the container was created, by its clock.
    func elapsed() -> Duration { stopwatch.elapsed() }

    /// Begins to watch for idle instances of a registration, unless a watcher exists.
    ///
    /// The task lives as long as an instance is cached. It ends when none is left, and is cancelled with the last
    /// instance and with the container. It does not keep the container alive.
    func watchIdle(_ binding: Binding) {
        let id = ObjectIdentifier(binding)
        withState { state in
            guard state.life.isOpen, state.idleWatchers[id] == nil, state.multitons[id]?.isEmpty == false else {
                return
            }
            let clock = clock
            let number = state.nextNumber()
            let task = Task.detached { [weak self] in
                do {
                    try await clock.repeatedly { self?.evictIdle(binding) }
                } catch {
                    self?.idleWatcherFailed(number, watching: id)
                }
            }
            state.idleWatchers[id] = IdleWatcher(number: number, task: task)
        }
    }

    /// Ends a watcher whose clock threw from its sleep.
    ///
    /// The next creation starts another watcher, because an immediate retry would call such a clock all the time.
    private func idleWatcherFailed(_ number: Int, watching id: ObjectIdentifier) {
        withState { state in
            // A cancelled watcher may already have a successor.
            if state.idleWatchers[id]?.number == number { state.idleWatchers[id] = nil }
        }
    }

    /// Evicts instances that have idled too long.
    ///
    /// Returns the time until the next check; nil when no instance is left.
    private func evictIdle(_ binding: Binding) -> Duration? {
        guard let idle = binding.lifetime.bounds.idle else { return nil }
        let id = ObjectIdentifier(binding)
        let now = elapsed()
        var removals = Removals()
        let delay: Duration? = withState { state in
            // A disposal that has begun removes the instances in its own order.
            guard state.life.isOpen, state.multitons[id] != nil else { return nil }
            let expired = state.multitons[id]!.expire(lastUsedBefore: now - idle)
            let oldest = state.multitons[id]!.oldestUse()
            // Without another instance, this ends the watcher, and the next instance starts another one.
            state.drop(expired, into: &removals)
            if state.multitons[id] == nil { return nil }
            // If all instances are leased, none can have idled long enough before the idle time has passed again. The
            // limit keeps an idle time of zero from polling.
            return max((oldest ?? now) + idle - now, .milliseconds(1))
        }
        dispose(of: removals)
        return delay
    }

    /// Handles the instances that a change dropped, outside the lock.
    @discardableResult
    func dispose(
        of removals: Removals, reason: DisposalReason = DisposalReason(hasCaller: false), as batch: DisposalBatch? = nil
    ) -> Task<[any Error], Never>? {
        // Their disposals wait for leases of the instances, and with them the end of the leases that these hold.
        if !removals.postponed.isEmpty { Lease.noteLaterEnd(of: removals.postponed.flatMap(\.leases)) }
        for storage in removals.storages { work(on: storage, beginningWith: .clear) }
        for watcher in removals.watchers { watcher.cancel() }
        return cleanUp(batch ?? DisposalBatch(removals.disposables), reason: reason)
    }
}

extension ContainerCore.State {
    /// Called before a new instance is cached, which may evict another one.
    ///
    /// With bounds, returns the node that notes the uses of the new instance: its predecessor's node, if one exists.
    mutating func beginUse(
        of key: CreationKey, again former: MultitonCache<CreationKey>.Node?, isLeased: Bool, at now: Duration,
        by stopwatch: Stopwatch, into removals: inout Removals
    ) -> MultitonCache<CreationKey>.Node? {
        let bounds = key.binding.lifetime.bounds
        guard bounds.needsOrder else { return nil }
        if let former {
            former.note(at: now)
            return former
        }
        let id = ObjectIdentifier(key.binding)
        let (node, evicted) = self.multitons[
            id, default: MultitonCache(capacity: bounds.capacity, timedBy: bounds.idle == nil ? nil : stopwatch)
        ].insert(key, isLeased: isLeased, at: now)
        drop(evicted, into: &removals)
        return node
    }

    /// Drops the instances that exceed its multiton's bounds.
    ///
    /// Instances are found by their nodes, because comparing keys is user code whose cost grows with the number of keys
    /// that have the same hash.
    mutating func drop(
        _ evicted: [MultitonCache<CreationKey>.Victim], into removals: inout Removals
    ) {
        if evicted.isEmpty { return }
        drop(
            evicted.compactMap { victim in
                instances.first(of: victim.key.binding, hash: victim.key.arguments.hash) { $0.node === victim.node }
            }, into: &removals)
        // These may be the last references to the arguments, whose deinitializers are user code.
        removals.released += evicted.map(\.key)
    }

    /// Notes the end of an instance's last lease, which counts as a use.
    ///
    /// May evict instances that exceeded the bounds while all were leased.
    mutating func lastLeaseEnded(
        _ lease: Lease, at now: Duration, into removals: inout Removals
    ) {
        guard lease.key.binding.lifetime.bounds.needsOrder, life.isOpen else { return }
        let id = ObjectIdentifier(lease.key.binding)
        let kept = instances.first(of: lease.key.binding, hash: lease.key.arguments.hash) { $0.cell === lease.cell }
        // Only if the instance was not reset or replaced meanwhile.
        guard let node = kept?.node, self.multitons[id] != nil else { return }
        drop(self.multitons[id]!.endLease(node, at: now), into: &removals)
    }

    /// Clears the indexes of all registrations, because one that is still referenced must not keep its instances.
    mutating func clearIndexes() {
        instances.forEach { kept in
            guard kept.arguments != nil else { return }
            kept.binding.index.load()?.takeUnretainedValue().removeAll(retired: &retired)
        }
    }

    /// Notes the removal of an entry; the last one also ends the watcher.
    mutating func endUse(_ node: MultitonCache<CreationKey>.Node, of binding: Binding, into removals: inout Removals) {
        let id = ObjectIdentifier(binding)
        guard self.multitons[id] != nil else { return }
        if let key = self.multitons[id]!.remove(node) { removals.released.append(key) }
        guard self.multitons[id]!.isEmpty else { return }
        self.multitons[id] = nil
        if let watcher = self.idleWatchers.removeValue(forKey: id) { removals.watchers.append(watcher.task) }
    }
}

/// The task that evicts idle instances of one registration.
struct IdleWatcher {
    let number: Int
    let task: Task<Void, Never>
}
