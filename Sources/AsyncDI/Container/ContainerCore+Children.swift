/// The containers directly below: open scopes, and children.
extension ContainerCore {
    func addChild(_ child: ContainerCore) {
        let isOpen = withState { state in
            state.children[ObjectIdentifier(child)] = WeakCore(core: child)
            return state.life.isOpen
        }
        if !isOpen { child.abandon(isDropped: table.isDropped) }
        // After the addition: a drain that begins now sees the child, or is seen here.
        if table.isDraining { child.beginDraining() }
        if table.hasPendingModules { child.withState { _ in child.table.hasPendingModules = true } }
    }

    /// The containers directly below this one: the scopes, then the children, the latest first.
    var childCores: [ContainerCore] {
        let (scopes, children) = withState { state in
            (state.scopes.newestFirst.map(\.core), state.children.values.compactMap(\.core))
        }
        return scopes + (children.count > 1 ? children.sorted { $0.number > $1.number } : children)
    }

    /// The same, but of many only some, in no particular order.
    func childCores(atMost limit: Int) -> [ContainerCore] {
        let (few, isAll) = withState { state in
            (state.scopes.some(atMost: limit).map(\.core), state.scopes.count + state.children.count <= limit)
        }
        return isAll ? childCores : few
    }

    /// Disposes open scopes and children, the latest first; their current work is not completed.
    func disposeChildren(_ disposal: Disposal, reason: DisposalReason, depth: Int) async {
        for child in childCoresToDispose {
            disposal.noteWait(for: .container(child.displayName, WeakCore(core: child)))
            let reason = reason.with(reason.error ?? Self.cutShort(child))
            defer { disposal.noteObservers(of: child) }
            guard let childDisposal = child.beginDisposal(reason: reason, depth: depth) else { continue }
            _ = await childDisposal.wait(atMost: nil, clock: clock)
            for error in childDisposal.errors { disposal.add(error) }
            if childDisposal.hasInterruptedWork { disposal.noteHooksBelow() }
        }
    }

    /// The scopes and then the children, the latest first; but one after those that fall back on it, and so may lease
    /// its instances.
    private var childCoresToDispose: [ContainerCore] {
        let cores = childCores
        guard cores.count > 1, Self.haveFallbacks else { return cores }
        var order = FallbackOrder<ObjectIdentifier>()
        var below: [ContainerCore] = []
        for (index, core) in cores.enumerated() {
            var remaining = [core]
            while let next = remaining.popLast() {
                order.note(ObjectIdentifier(next), in: index)
                below.append(next)
                remaining += next.childCores
            }
        }
        for core in below {
            // Beyond those below this container, each of which is a user of its own sources.
            var sources = core.fallbacks
            var seen: Set<ObjectIdentifier> = []
            while let source = sources.popLast() {
                guard seen.insert(ObjectIdentifier(source)).inserted,
                    !order.noteUse(of: ObjectIdentifier(source), by: ObjectIdentifier(core))
                else { continue }
                sources += source.fallbacks
                if let parent = source.parent { sources.append(parent) }
            }
        }
        return order.usersFirst.map { cores[$0] }
    }
}
