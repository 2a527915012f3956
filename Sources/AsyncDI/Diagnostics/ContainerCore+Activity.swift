/// The work under way in a container and below it.
extension ContainerCore {
    func activity() -> ActivitySnapshot {
        var parts = ActivityParts()
        // A list, because scopes may be nested very deep.
        var remaining = [self]
        while let core = remaining.popLast() {
            core.collect(into: &parts)
            remaining += core.childCores.reversed()
        }
        collectBodiesCutShort(into: &parts)
        let waits = Waits.all()
        return parts.snapshot(of: displayName, edges: waits)
    }

    private func collectBodiesCutShort(into parts: inout ActivityParts) {
        // Outside the lock: the last reference to a scope may be released here.
        for entry in outermost.withState({ $0.bodiesCutShort.entries }) {
            guard let scope = entry.running, isAboveOrSame(scope) else { continue }
            parts.scopes.append(
                .init(
                    name: scope.name ?? "scope", container: entry.container,
                    duration: scope.elapsed() - entry.since,
                    hasOwner: true, isDisposed: true))
        }
    }

    private func collect(into parts: inout ActivityParts) {
        let now = elapsed()
        let (flights, leases, scopes, endings, modules) = withState { state in
            let flights = state.flights.entries.map { creation, entry in
                (creation: creation, waiters: entry.waiters.count + (entry.isAttended ? 1 : 0))
            }
            let leases = state.leases.all.map { (leased: $0, bodies: $0.bodies, count: $0.count) }
            let endings = state.endings.values.map { item in
                // Also returned, because the last reference to an instance must not be released here.
                let leased = item.leasesAwaited
                return (item: item, leased: leased, isLeased: leased.map { $0.count > 0 } ?? false)
            }
            return (flights, leases, state.scopes.newestFirst, endings, state.modules.waiting)
        }
        if let disposal = disposalReference.object {
            parts.disposals[ObjectIdentifier(disposal)] = displayName
            if !disposal.hasEnded {
                parts.unfinished.append(disposal)
                let (key, waitsForLeases): (CreationKey?, Bool) =
                    switch disposal.subject {
                    case .leases(let key)?: (key, true)
                    case .hooks(let key)?: (key, false)
                    default: (nil, false)
                    }
                // One that had left the cache before is listed below.
                if let key, !endings.contains(where: { !$0.item.hasEnded && $0.item.key == key }) {
                    parts.endings.append(.init(instance: key.instance(in: displayName), waitsForLeases: waitsForLeases))
                }
            }
        }
        for (creation, waiters) in flights where creation.binding.loadsModules || !creation.binding.blueprint.isHidden {
            let modules = creation.binding.loadsModules ? modules.map { readableName(of: type(of: $0)) } : []
            parts.creations.append((creation, now - creation.begin, waiters, modules))
        }
        for (leased, bodies, count) in leases {
            parts.leases.append(
                .init(
                    instance: leased.key.instance(in: displayName), duration: now - leased.since, bodies: bodies,
                    holders: count - bodies))
        }
        for scope in scopes {
            parts.scopes.append(
                .init(
                    name: scope.core.name ?? "scope", container: displayName, duration: now - scope.since,
                    hasOwner: scope.core.hasOwner, isDisposed: false))
        }
        for ending in endings where !ending.item.hasEnded {
            parts.endings.append(
                .init(instance: ending.item.key.instance(in: displayName), waitsForLeases: ending.isLeased))
        }
    }
}

/// The data of the containers, before the graph of waits adds which creation waits for which activity.
private struct ActivityParts {
    /// Those that load modules, too.
    var creations: [(creation: Creation, duration: Duration, waiters: Int, modules: [String])] = []
    var leases: [ActivitySnapshot.Lease] = []
    var scopes: [ActivitySnapshot.Scope] = []
    var endings: [ActivitySnapshot.Disposal] = []
    /// The names of the containers, by their disposals.
    var disposals: [ObjectIdentifier: String] = [:]
    var unfinished: [Disposal] = []

    func snapshot(of container: String, edges: [(from: Activity, to: Activity)]) -> ActivitySnapshot {
        var targets: [ObjectIdentifier: [ActivitySnapshot.Wait]] = [:]
        var seen: Set<[AnyHashable]> = []
        func add(_ target: Activity, to waiting: Creation) {
            if let instance = target as? Creation, instance.home == nil, !instance.isGraphInstance(outside: waiting) {
                return
            }
            let wait = self.wait(for: target)
            guard seen.insert([ObjectIdentifier(waiting), wait.target, wait.isForDisposal]).inserted else { return }
            targets[ObjectIdentifier(waiting), default: []].append(wait)
        }
        for (from, to) in edges {
            if let waiting = from.sharedCreation { add(to, to: waiting) }
        }
        for (begun, _, waiters, _) in creations where waiters > 0 {
            // The graph of waits learns of the wait for what a creation began when that one waits itself.
            if let waiting = begun.beginner?.activity.sharedCreation { add(begun, to: waiting) }
        }
        // The same holds for the wait for a disposal, until a hook of it waits.
        for disposal in unfinished {
            if let waiting = disposal.beginner?.activity.sharedCreation { add(disposal, to: waiting) }
        }
        func waits(of creation: Creation) -> [ActivitySnapshot.Wait] {
            (targets[ObjectIdentifier(creation)] ?? []).sorted { $0.target < $1.target }
        }
        return ActivitySnapshot(
            container: container,
            loadings: creations.filter { $0.creation.binding.loadsModules }.map {
                creation, duration, waiters, modules in
                .init(
                    modules: modules, container: creation.host.displayName, duration: duration, waiters: waiters,
                    waits: waits(of: creation))
            },
            creations: creations.filter { !$0.creation.binding.loadsModules }.sorted { $0.duration > $1.duration }.map {
                creation, duration, waiters, _ in
                .init(
                    instance: creation.key.instance(in: creation.host.displayName), duration: duration,
                    waiters: waiters, path: creation.path, waits: waits(of: creation))
            },
            leases: leases.sorted { $0.duration > $1.duration },
            scopes: scopes.sorted { $0.duration > $1.duration }, disposals: endings)
    }

    private func wait(for target: Activity) -> ActivitySnapshot.Wait {
        switch target {
        case let creation as Creation where creation.binding.loadsModules:
            .init(
                target: "the modules of \(creation.host.displayName)", key: nil, isForDisposal: false)
        case let creation as Creation where creation.binding.blueprint.isHidden:
            .init(
                target: "\(creation.binding.blueprint.shownKey)", key: creation.binding.blueprint.shownKey,
                isForDisposal: false)
        case let creation as Creation:
            .init(target: "\(creation.key)", key: creation.binding.key, isForDisposal: false)
        case let end as EndOfCreation:
            .init(target: "the earlier creation of \(end.key)", key: end.key.binding.key, isForDisposal: false)
        case let item as Disposable:
            .init(target: "the disposal of \(item.key)", key: item.binding.key, isForDisposal: true)
        default:
            .init(
                target: "the disposal of \(disposals[ObjectIdentifier(target)] ?? "a container above")", key: nil,
                isForDisposal: true)
        }
    }
}

extension CreationKey {
    fileprivate func instance(in container: String) -> ActivitySnapshot.Instance {
        ActivitySnapshot.Instance(
            key: binding.key, arguments: argumentText, site: binding.blueprint.site, container: container)
    }
}

extension Creation {
    /// The services that led to this creation, outermost first, also through other shared creations.
    fileprivate var path: [ServiceKey] {
        var path = [binding.key]
        var next: Creation? = self
        var seen: Set<ObjectIdentifier> = []
        while let creation = next, seen.insert(ObjectIdentifier(creation)).inserted, let asker = creation.asker {
            // The loading of modules is no service.
            path = asker.path.filter { $0.binding?.blueprint.isHidden != true }.map(\.key) + path
            next = asker.root.holder
        }
        return path
    }
}
