extension Container: _Resolving {
    /// The container itself.
    @inlinable public nonisolated var _requester: _Requester { .container(self) }

    /// The resolver for requests made through this container.
    nonisolated var resolver: Resolver {
        ResolutionContext.activeRun == nil ? core.resolver : Resolver(host: core, run: nil)
    }

    /// The answer to a request for an unqualified service without arguments.
    @usableFromInline
    nonisolated func find(_ service: any Any.Type, onActor isOnActor: Bool) -> Answer {
        guard isOutsideRuns else { return .other(nil) }
        guard standsForItself else { return core.asked.find(service, onActor: isOnActor) }
        // Not through the core, which would be retained: a hit retains only the instance.
        guard let found = table.find(service) else { return core.beginShared(service, onActor: isOnActor) }
        return found.answer(from: core, table)
    }

    /// The answer to a request for an unqualified service with arguments; nil where it takes every rule into account.
    @usableFromInline
    nonisolated func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> ArgumentsAnswer? {
        guard isOutsideRuns else { return nil }
        guard standsForItself else { return core.asked.find(service, arguments, hash: hash, pack: pack) }
        return table.find(service, arguments, hash: hash)?.answer(from: core, pack)
    }

    /// Whether requests with these arguments find instances by their hash.
    @usableFromInline
    nonisolated func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        guard isOutsideRuns else { return false }
        return (standsForItself ? table : core.asked.table).isIndexed(service, arguments)
    }

    /// The cached instance whose arguments have this hash, and its container, for a request from outside every run.
    @usableFromInline
    nonisolated func findIndexed(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: Int
    ) -> IndexedInstance? {
        guard isOutsideRuns else { return nil }
        // A table needs its container, which this handle keeps.
        defer { withExtendedLifetime(self) {} }
        let found = (standsForItself ? table : core.asked.table).findIndexed(service, arguments, hash: hash)
        return found.map { IndexedInstance(entry: $0.entry, home: $0.owner.host) }
    }

    /// The published instance of a service, for a request from outside every run.
    @usableFromInline
    nonisolated func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard isOutsideRuns else { return nil }
        let found = standsForItself ? table.find(service) : core.asked.table.find(service)
        guard case .hit(let hit)? = consume found else { return nil }
        return hit
    }

    /// The run of a request from outside every run that is no more than a call of a transient service's factory.
    nonisolated func beginPlainRun(_ find: (InstanceTable) -> Binding?) -> Run? {
        guard isOutsideRuns else { return nil }
        let asked = standsForItself ? core : core.asked
        return find(asked.table).map { Run(outermost: $0, .none, host: asked) }
    }

    /// The published instance of a service with a qualifier, for a request from outside every run.
    @usableFromInline
    nonisolated func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        guard isOutsideRuns else { return nil }
        guard standsForItself else { return core.asked.table.find(probe) }
        return table.find(probe)
    }
}
