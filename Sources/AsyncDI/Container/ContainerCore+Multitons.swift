/// Bounded multitons: the order of use, and the task that ends what idles.
extension ContainerCore {
    /// The time by the container's clock, since it was made.
    func elapsed() -> Duration { stopwatch.elapsed() }

    /// Begins to watch for idle instances of a registration, unless a watcher exists.
    ///
    /// The task lives as long as something is cached: it ends by itself when nothing is left, and is cancelled with the
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
    /// The next creation starts another watcher: to try again at once would ask such a clock all the time.
    private func idleWatcherFailed(_ number: Int, watching id: ObjectIdentifier) {
        withState { state in
            // A watcher that was cancelled may have a successor already.
            if state.idleWatchers[id]?.number == number { state.idleWatchers[id] = nil }
        }
    }

    /// Evicts what has idled too long.
    ///
    /// Returns how long to wait for the next one; nil when nothing is left.
    private func evictIdle(_ binding: Binding) -> Duration? {
        guard let idle = binding.lifetime.bounds.idle else { return nil }
        let id = ObjectIdentifier(binding)
        let now = elapsed()
        var removals = Removals()
        let delay: Duration? = withState { state in
            // A disposal has begun to take its instances in its own order.
            guard state.phase == .open, var cache = state.multitons[id] else { return nil }
            // Taken out, so that it is changed in place and not copied under the lock.
            state.multitons[id] = nil
            let expired = cache.expire(lastUsedBefore: now - idle)
            let oldest = cache.oldestUse()
            let isEmpty = cache.isEmpty
            state.multitons[id] = cache
            state.drop(expired, from: table, into: &removals)
            if !isEmpty {
                // When all are leased, none can have idled long enough before as much time has gone by again. Without
                // any idle time it is not polled, and a clock's instant may not reach as far as an idle time
                // does.
                return min(max((oldest ?? now) + idle - now, .milliseconds(1)), .seconds(86_400))
            }
            // Nothing is left: the next instance starts another watcher.
            state.multitons[id] = nil
            if let watcher = state.idleWatchers.removeValue(forKey: id) { removals.watchers.append(watcher.task) }
            return nil
        }
        dispose(of: removals)
        return delay
    }

    /// Deals with what a change dropped, outside the lock.
    @discardableResult
    func dispose(
        of removals: Removals, reason: DisposalReason = DisposalReason(hasCaller: false)
    ) -> Task<[any Error], Never>? {
        for storage in removals.storages { work(on: storage, beginningWith: .clear) }
        for watcher in removals.watchers { watcher.cancel() }
        return cleanUp(removals.disposables, reason: reason)
    }
}

extension ContainerCore.State {
    /// A new instance is about to be cached: another one may have to go.
    ///
    /// Returns what notes its uses, where there are bounds: that of its predecessor, if it has one.
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

    /// Drops what its multiton's bounds have no room for.
    ///
    /// Found by their nodes, because comparing keys is the user's code, and takes as long as there are keys with the
    /// same hash.
    mutating func drop(
        _ evicted: [MultitonCache<CreationKey>.Victim], from table: InstanceTable, into removals: inout Removals
    ) {
        if evicted.isEmpty { return }
        drop(
            evicted.compactMap { victim in
                instances.first(of: victim.key.binding, hash: victim.key.arguments.hash) { $0.node === victim.node }
            }, from: table, into: &removals)
        // Perhaps the last ones that hold their arguments, whose deinitializers are user code.
        removals.keys += evicted.map(\.key)
    }

    /// A lease of a cached instance begins: it is not evicted until the last one ends.
    mutating func beginLease(
        of cell: Cell, for key: CreationKey, in kept: CacheEntry, at now: Duration
    ) -> LeasedCell {
        if let node = kept.node { MultitonCache<CreationKey>.beginLease(node) }
        return beginLease(of: cell, for: key, at: now)
    }

    /// The last lease of an instance has ended, which counts as a use.
    ///
    /// What was not evicted because everything was leased may have to go now.
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

    /// An entry is gone: with the last one goes the task that watches.
    mutating func endUse(_ node: MultitonCache<CreationKey>.Node, of binding: Binding, into removals: inout Removals) {
        let id = ObjectIdentifier(binding)
        guard self.multitons[id] != nil else { return }
        if let key = self.multitons[id]!.remove(node) { removals.keys.append(key) }
        guard self.multitons[id]!.isEmpty else { return }
        self.multitons[id] = nil
        if let watcher = self.idleWatchers.removeValue(forKey: id) { removals.watchers.append(watcher.task) }
    }
}

/// The task that ends what idles of one registration.
struct IdleWatcher {
    let number: Int
    let task: Task<Void, Never>
}
