/// A parent's reference to an open scope, which keeps the scope's instances until it is closed, even without its
/// handle.
struct OpenScope: Sendable {
    let lifeline: Lifeline
    private let nanoseconds: Int64

    init(lifeline: Lifeline, since: Duration) {
        self.lifeline = lifeline
        nanoseconds = since.clampedNanoseconds
    }

    /// The time of its opening, by the container's stopwatch.
    var since: Duration { .nanoseconds(nanoseconds) }
    var core: ContainerCore { lifeline.core }
}

/// The kinds of scopes, by what determines their end.
enum ScopeKind {
    /// Opened and disposed by hand.
    case byHand
    /// Of the body of a `withScope`.
    case body
    /// Owned by an object whose work a drain waits for.
    case work
    /// Owned by an object, and as long as that.
    case object
}

extension ContainerCore {
    /// Whether this container was opened as a scope.
    var isScope: Bool { scopeKind != nil }
    /// Whether a drain waits for the end of this scope.
    var isDrained: Bool { scopeKind == .body || scopeKind == .work }
    /// Whether this is the scope of a `withScope`.
    var hasBody: Bool { scopeKind == .body }
    /// Whether a body or an object determines the end of this scope's work, so that any other disposal interrupts it.
    var hasOwner: Bool { isScope && scopeKind != .byHand }
}

/// Opening, finding and closing scopes.
extension ContainerCore {
    /// Returns the scope that is open under a key.
    func scope(_ key: AnyKey) throws -> ContainerCore? {
        try withState { state in
            guard state.life.isOpen else { throw disposedError(nil, asker: nil) }
            return state.scopes.scope(key)?.core
        }
    }

    /// Opens a scope, or returns the one that is open under the key.
    ///
    /// - Parameters:
    ///   - kind: The kind of the scope; the caller of a body keeps the handle until ``unpin(_:)``.
    ///   - key: The key of the scope; nil for an unshared scope.
    ///   - name: The name of the scope in messages.
    ///   - holder: The handle of this container, which the scope keeps alive.
    ///   - registrations: Evaluated when no scope is open under the key. They are dropped, and no hook of theirs runs,
    ///     when the call throws, or another call opens the scope meanwhile.
    /// - Returns: The scope.
    /// - Throws: `disposed`.
    func openScope(
        _ kind: ScopeKind = .byHand, key: AnyKey? = nil, name: String, holder: Container,
        registrations: () -> Registrations
    ) throws -> Container {
        if table.isClosed, ResolutionContext.activeRun?.isAwaitedByDisposal != true {
            settings.interceptors.didRefuseScope(named: name)
        }
        if let key, let open = try scope(key), let handle = open.handle() { return handle }
        let core = ContainerCore(name: name, parent: self, settings: settings, scopeKind: kind)
        let lifeline = Lifeline(core)
        core.setUp(registrations())
        let isPinned = kind == .body
        let around = isPinned ? CurrentContainers.around(core) : nil
        if let around { core.around = around }
        let container = Container(core: core, lifeline: lifeline, holding: holder, around: around)
        // Adopted before a request can find the scope by its key, and so this handle.
        if !isPinned { core.adopt(container, lifeline) }
        let now = elapsed()
        // Two tasks may reach this point with the same key: both receive the first one's scope.
        let other: ContainerCore? = try withState { state in
            // Under the lock: a drain that has begun sees the scope of a body, or the body is refused.
            guard state.life.isOpen, !isRefusedWhileDraining else { throw disposedError(nil, asker: nil) }
            if let key, let open = state.scopes.scope(key) { return open.core }
            core.scopeID = state.scopes.open(OpenScope(lifeline: lifeline, since: now), key: key)
            // Modules that were registered since its beginning have not found it below this container.
            if table.hasPendingModules { core.table.hasPendingModules = true }
            if core.isDrained { state.life.beginBody() } else if table.isDraining { core.table.isDraining = true }
            state.note(.scopeOpened, .scopeOpened(name))
            return nil
        }
        if let other {
            return try other.handle()
                ?? openScope(kind, key: key, name: name, holder: holder, registrations: registrations)
        }
        if isPinned {
            let run = ResolutionContext.activeRun
            if Container.current != nil || run != nil || LeaseContext.body != nil, let caller = caller(of: run) {
                _ = core.bodyReference.loadOrInitialize { ScopeBody(of: core, begunBy: caller) }
            }
            core.pin(container)
        }
        // Observers receive the scope's registrations after its opening.
        if events?.wanted.contains(.registered) == true { core.withState { _ in } }
        return container
    }

    /// Begins to close the scope, so that its key can be opened again.
    func scopeBeginsClosing() {
        guard let id = scopeID, id.hasKey else { return }
        let key = withParent { parent in parent.withState { $0.scopes.beginClosing(id) } }
        withExtendedLifetime(key) {}
    }

    /// Notes that the body of this closed scope runs on.
    private func noteBodyCutShort(since: Duration) {
        guard let parent else { return }
        let entry = BodiesCutShort.Entry(scope: WeakCore(core: self), container: parent.displayName, since: since)
        let scopes = outermost.withState { $0.bodiesCutShort.add(entry) }
        withExtendedLifetime(scopes) {}
    }

    /// Ends the scope, which its parent releases.
    func scopeIsClosed() {
        guard let id = scopeID else { return }
        var quiet: [CheckedContinuation<Void, Never>] = []
        let closed = withParent { parent in
            parent.withState { state in
                let closed = state.scopes.remove(id)
                if let closed {
                    if isDrained { quiet = state.life.endBody() }
                    state.note(.scopeClosed, .scopeClosed(closed.core.name ?? ""))
                }
                return closed
            }
        }
        for continuation in quiet { continuation.resume() }
        if hasBody, !bodyHasReturned, let closed = closed ?? nil { noteBodyCutShort(since: closed.since) }
        withExtendedLifetime(closed) {}
    }
}
