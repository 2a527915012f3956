/// The containers directly below: open scopes, and children.
extension ContainerCore {
    func addChild(_ child: ContainerCore) {
        let isOpen = withState { state in
            state.children[ObjectIdentifier(child)] = WeakCore(core: child)
            return state.life.isOpen
        }
        if !isOpen { child.abandon() }
        // After the addition: a drain that begins now sees the child, or is seen here.
        if table.isDraining { child.beginDraining() }
    }

    /// The containers directly below this one: the scopes, then the children, the latest first.
    var childCores: [ContainerCore] {
        let (scopes, children) = withState { state in
            (state.scopes.newestFirst.map(\.core), state.children.values.compactMap(\.core))
        }
        return scopes + (children.count > 1 ? children.sorted { $0.number > $1.number } : children)
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

    /// The scopes and then the children, the latest first; a scope that a child falls back on, and whose instances it
    /// may lease, comes last.
    private var childCoresToDispose: [ContainerCore] {
        let cores = childCores
        var sources = cores.flatMap(\.fallbacks)
        if sources.isEmpty { return cores }
        var found: Set<ObjectIdentifier> = []
        while let source = sources.popLast() {
            guard found.insert(ObjectIdentifier(source)).inserted else { continue }
            sources += source.fallbacks
            if let parent = source.parent { sources.append(parent) }
        }
        let isSource = { (core: ContainerCore) in core.isScope && found.contains(ObjectIdentifier(core)) }
        return cores.filter { !isSource($0) } + cores.filter(isSource)
    }
}
