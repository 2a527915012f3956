/// A core's reference to its handle, which does not keep the handle alive.
struct HandleReference: Sendable {
    weak var container: Container?
    /// Not set if the parent has it.
    weak var lifeline: Lifeline?
}

/// Keeps a core's content.
///
/// A container's handles hold it, and so does the parent of an open scope; after the last holder, the core is emptied.
final class Lifeline: Sendable {
    let core: ContainerCore

    init(_ core: ContainerCore) { self.core = core }

    deinit {
        var scopes = core.abandon()
        while !scopes.isEmpty { releaseInTurn(scopes.removeLast()) }
    }
}

/// Handles, and the end of the last one.
extension ContainerCore {
    /// Makes the handle the one that look-ups find, unless they find another one.
    ///
    /// - Returns: The handle that is found.
    @discardableResult
    func adopt(_ container: Container, _ lifeline: Lifeline) -> Container {
        handleReference.loadOrInitialize { Shared(Locked(HandleReference())) }.value.withLock {
            if let other = $0.container { return other }
            $0.container = container
            // A scope's parent has it. But code for observers holds the lock of the scope, under which the parent must
            // not be queried.
            if !isScope || events != nil { $0.lifeline = lifeline }
            return container
        }
    }

    /// Makes this the handle until ``unpin(_:)``; a running body keeps it.
    func pin(_ container: Container) { withState { $0.pinnedHandle = container } }

    /// Ends the body's hold: look-ups find the handle only while another reference holds it.
    func unpin(_ container: inout Container) {
        // Not the last reference: the caller has one.
        withState { $0.pinnedHandle = nil }
        // A handle that can be looked up costs two more allocations. A request's scope has no other reference and
        // avoids them.
        if isKnownUniquelyReferenced(&container) { return }
        if let lifeline = container.lifeline.object { adopt(container, lifeline) }
    }

    /// The container's handle, created if none exists; nil after the end of the container.
    func handle() -> Container? { withState { $0.pinnedHandle } ?? unpinnedHandle() }

    private func unpinnedHandle() -> Container? {
        var without: [(core: ContainerCore, lifeline: Lifeline)] = []
        var handle: Container?
        for core in lineage {
            handle = core === self ? nil : core.withState { $0.pinnedHandle }
            let known = core.handleReference.object?.value.withLock { $0 }
            handle = handle ?? known?.container
            if handle != nil { break }
            guard let lifeline = known?.lifeline ?? (core.events == nil ? core.lifelineOfScope : nil) else { break }
            without.append((core, lifeline))
        }
        // From the top down, because scopes may be nested deeply. Outside the lock, which an adoption takes.
        for (core, lifeline) in without.reversed() {
            handle = core.adopt(Container(core: core, lifeline: lifeline, holding: handle), lifeline)
        }
        return handle
    }

    private var lifelineOfScope: Lifeline? {
        guard let parent, let scopeID else { return nil }
        return parent.withState { $0.scopes[scopeID]?.lifeline }
    }

    /// Reports a long wait to the observers, unless it is over.
    ///
    /// The end of the creation is reported under the lock of its container, in the step that removes it from flight.
    /// Checking whether it is in flight and reporting the wait are one step under the same lock, so that no wait is
    /// reported after its end.
    func tell(_ wait: StallMonitor.Wait, lasting duration: Duration) {
        let creation = wait.creation
        let arguments = creation.key.arguments
        let event = ContainerEvent.stalled(
            waiting: wait.waiting, for: creation.binding.blueprint.shownKey, since: duration)
        let owner = creation.place as? ContainerCore
        // The queue is that of the requested container; a scope that is being opened has no handle yet.
        if let owner, owner !== self, let events, let container = handle() {
            let details = ContainerEvent.Details(key: arguments)
            owner.withState { if $0.flights[creation] != nil { events.append([(event, details)], from: container) } }
        } else {
            withState { if owner !== self || $0.flights[creation] != nil { $0.note(.stalled, of: arguments, event) } }
        }
    }

    /// Passes events to the observers' queue.
    ///
    /// A scope that is being opened has no handle yet: its events wait until it has one.
    ///
    /// - Returns: The handle that the queue received, to be released outside the lock.
    func handOver(_ state: inout State) -> Container? {
        guard let events, let container = state.pinnedHandle ?? unpinnedHandle() else { return nil }
        events.append(state.events, from: container)
        state.events = []
        return container
    }

    // MARK: Objects known by identity

    /// Removes an object that is known here by its identity, and is about to be released.
    func forget<Value>(
        _ id: ObjectIdentifier, in member: ReferenceWritableKeyPath<Extras, [ObjectIdentifier: Value]>
    ) {
        let forgotten = withState { state in
            state.rarely { !$0[keyPath: member].isEmpty } ? state[dynamicMember: member].removeValue(forKey: id) : nil
        }
        // Released outside the lock, because it may hold a qualifier.
        withExtendedLifetime(forgotten) {}
    }

    func remember(_ memo: any InstanceMemo) -> Bool {
        withState { state in
            guard state.life.phase != .disposed else { return false }
            state.memos[ObjectIdentifier(memo)] = WeakInstanceMemo(memo: memo)
            return true
        }
    }

    func forgetMemo(_ identity: ObjectIdentifier) { forget(identity, in: \.memos) }

    // MARK: Abandonment

    /// Empties the core after its last handle: instances are released without their hooks, and waiters receive an
    /// error.
    ///
    /// A container that is being disposed finishes its disposal instead, which keeps the core.
    ///
    /// - Parameter isDropped: Whether that is because of the last handle, which errors then say.
    /// - Returns: The references that kept its open scopes, the first one last. They are released in turn, because
    ///   scopes may be nested deeply.
    @discardableResult
    func abandon(isDropped: Bool = true) -> [Lifeline] {
        if table.isClosed {
            // The error of a failed start may lead back to the container.
            if startMeter != nil { note(nil) }
            return []
        }
        var content = State.Content()
        let stopped: (waiters: [Waiter], flights: [Creation])? = withState { state in
            guard state.life.isOpen else { return nil }
            if isDropped { table.noteDrop() }
            table.close()
            state.end(into: &content, hasParent: hasParent, hasHandle: false)
            content.events = state.silence()
            // No handle is left whose disposal would wait for the release.
            state.life.finish()
            return state.flights.close()
        }
        guard let stopped else { return [] }
        Self.stop(stopped)
        for watcher in content.idleWatchers { watcher.task.cancel() }
        for memo in content.memos { memo.containerHasEnded(number) }
        for item in content.ledger.inOrder { for lease in item.leases { lease.end() } }
        for drain in content.drains { drain.resume() }
        return content.scopes
    }
}
