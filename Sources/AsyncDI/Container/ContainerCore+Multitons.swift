/// Bounded multitons: the order of use, and the task that evicts idle instances.
extension ContainerCore {
    /// The time since the container was created, by its clock.
    func elapsed() -> Duration { stopwatch.elapsed() }

    /// Begins to watch for idle instances of a registration, unless a watcher exists.
    ///
    /// The task lives as long as an instance is cached. It ends by itself when none is left, and is cancelled with the
    /// last instance, and with the container. It does not keep the container alive.
    func watchIdle(_ binding: Binding) {
        let id = ObjectIdentifier(binding)
        withState { state in
            guard state.phase == .open, state.idleWatchers[id] == nil, state.multitons[id]?.isEmpty == false else {
                return
            }
            let clock = clock
            let number = state.nextIdleWatcher
            state.nextIdleWatcher += 1
            let task = Task.detached { [weak self] in
                while let delay = self?.evictIdle(binding) {
                    do {
                        try await clock.sleep(for: delay)
                    } catch {
                        self?.idleWatcherFailed(number, watching: id)
                        return
                    }
                }
            }
            state.idleWatchers[id] = IdleWatcher(number: number, task: task)
        }
    }

    /// A clock did not sleep, perhaps for a reason of its own.
    ///
    /// The next creation starts another watcher: an immediate retry would call such a clock all the time.
    private func idleWatcherFailed(_ number: Int, watching id: ObjectIdentifier) {
        withState { state in
            // A watcher that was cancelled may have a successor already.
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
            // A disposal has begun to remove its instances in its own order.
            guard state.phase == .open, var cache = state.multitons[id] else { return nil }
            // Removed, so that it is changed in place and not copied under the lock.
            state.multitons[id] = nil
            let expired = cache.expire(lastUsedBefore: now - idle)
            let oldest = cache.oldestUse()
            let isEmpty = cache.isEmpty
            state.multitons[id] = cache
            state.drop(expired, from: table, into: &removals)
            if !isEmpty {
                // When all are leased, none can have idled long enough before as much time has passed again. An idle
                // time of zero is not polled, and a clock's instant may not reach as far as an idle time does.
                return min(max((oldest ?? now) + idle - now, .milliseconds(1)), .seconds(86_400))
            }
            // No instance is left: the next one starts another watcher.
            state.multitons[id] = nil
            if let watcher = state.idleWatchers.removeValue(forKey: id) { removals.watchers.append(watcher.task) }
            return nil
        }
        dispose(of: removals)
        return delay
    }

    /// Handles the instances that a change dropped, outside the lock.
    @discardableResult
    func dispose(of removals: Removals, reason: DisposalReason = DisposalReason()) -> Task<[any Error], Never>? {
        for storage in removals.storages { work(on: storage, beginningWith: .clear) }
        for watcher in removals.watchers { watcher.cancel() }
        return cleanUp(removals.disposables, reason: reason)
    }
}

extension ContainerCore.State {
    /// Called before a new instance is cached: another one may have to go.
    ///
    /// Returns the node that notes its uses, where there are bounds: that of its predecessor, if it has one.
    mutating func beginUse(
        of key: CreationKey, again former: MultitonCache<CreationKey>.Node?, isLeased: Bool, at now: Duration,
        by stopwatch: Stopwatch, from table: InstanceTable, into removals: inout Removals
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
        drop(evicted, from: table, into: &removals)
        return node
    }

    /// Drops the instances that exceed its multiton's bounds.
    ///
    /// They are found by their nodes, because comparing keys is user code, and takes as long as the number of keys with
    /// the same hash.
    mutating func drop(
        _ evicted: [MultitonCache<CreationKey>.Victim], from table: InstanceTable, into removals: inout Removals
    ) {
        if evicted.isEmpty { return }
        drop(
            evicted.compactMap { victim in
                instances.first(of: victim.key.binding, hash: victim.key.arguments.hash) { $0.node === victim.node }
            }, from: table, into: &removals)
        // Perhaps the last references to their arguments, whose deinitializers are user code.
        removals.keys += evicted.map(\.key)
    }

    /// Notes the beginning of a cached instance's lease: it is not evicted until its last lease ends.
    mutating func beginLease(
        of cell: Cell, for key: CreationKey, in kept: CacheEntry, at now: Duration
    ) -> LeasedCell {
        if let node = kept.node { MultitonCache<CreationKey>.beginLease(node) }
        return beginLease(of: cell, for: key, at: now)
    }

    /// Notes the end of an instance's last lease, which counts as a use.
    ///
    /// Instances that were not evicted because all were leased may have to go now.
    mutating func lastLeaseEnded(
        _ lease: Lease, at now: Duration, from table: InstanceTable, into removals: inout Removals
    ) {
        guard lease.key.binding.lifetime.bounds.needsOrder, phase == .open else { return }
        let id = ObjectIdentifier(lease.key.binding)
        let kept = instances.first(of: lease.key.binding, hash: lease.key.arguments.hash) { $0.cell === lease.cell }
        // Unless it was reset or replaced meanwhile.
        guard let node = kept?.node, self.multitons[id] != nil else { return }
        drop(self.multitons[id]!.endLease(node, at: now), from: table, into: &removals)
    }

    /// Cached instances are no longer found: a registration that is still referenced must not keep its instances.
    mutating func clearIndexes() {
        instances.forEach { kept in
            guard kept.arguments != nil else { return }
            kept.binding.index.load()?.takeUnretainedValue().removeAll(retired: &retired)
        }
    }

    /// Notes that an entry is gone: with the last one goes the task that watches.
    mutating func endUse(_ node: MultitonCache<CreationKey>.Node, of binding: Binding, into removals: inout Removals) {
        let id = ObjectIdentifier(binding)
        guard self.multitons[id] != nil else { return }
        if let key = self.multitons[id]!.remove(node) { removals.keys.append(key) }
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
