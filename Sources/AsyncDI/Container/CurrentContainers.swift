/// The containers that a task and those around it have made current: the last one, and then the ones before it.
///
/// Ended scopes are among them, because a task may outlive its scope. A container is left out where a later one answers
/// all its requests: a chain of tasks without end, each begun in the scope of the one before, has a short list, if its
/// scopes end.
final class CurrentContainers: Sendable {
    /// The containers of the current task, the current one included; nil where it is the only one, or the scope of a
    /// `withScope`.
    ///
    /// `withScope` binds the current container alone, once for each request. The handle of its scope has the others:
    /// ``Container/around``.
    @TaskLocal static var bound: CurrentContainers?

    let last: ContainerCore
    var others: CurrentContainers? { keptOthers }
    /// Not a constant, so that the deinitializer can release it in turn.
    ///
    /// Unsafe because only the deinitializer, which no other task sees, changes it.
    @exclusivity(unchecked) private nonisolated(unsafe) var keptOthers: CurrentContainers?

    private init(_ last: ContainerCore, _ others: CurrentContainers?) {
        self.last = last
        keptOthers = others
    }

    // Scopes may be nested deeply.
    deinit {
        guard let others = keptOthers.take() else { return }
        releaseInTurn(consume others)
    }
}

extension CurrentContainers {
    /// The containers of the current task without its current one.
    private static func beside(_ current: Container) -> CurrentContainers? {
        if let bound, bound.last === current.core { return bound.others }
        return current.around ?? current.core.containersAround ?? (current.core.hasBody ? nil : bound)
    }

    /// The containers of the current task, and of the bodies in which the scopes above were opened, that still matter
    /// where a container is made current.
    static func around(_ next: ContainerCore) -> CurrentContainers? {
        guard let current = Container.current else { return next.containersAround }
        let others = beside(current)?.without { $0.isReplaced(by: next) }
        let all = current.core.isReplaced(by: next) ? others : CurrentContainers(current.core, others)
        // A task that is in none of those bodies may use such a scope, and works for them then.
        guard let above = next.containersAround, above !== all else { return all }
        let known = Set((all?.cores ?? []).map { ObjectIdentifier($0) })
        return above.without { known.contains(ObjectIdentifier($0)) || $0.isReplaced(by: next) }?.behind(all) ?? all
    }

    /// The containers of the current task after a container is made current; nil where it is the only one.
    static func beginning(with next: ContainerCore) -> CurrentContainers? {
        Container.current == nil ? nil : CurrentContainers(next, around(next))
    }

    private func without(_ isLeftOut: (ContainerCore) -> Bool) -> CurrentContainers? {
        let all = cores
        let kept = all.filter { !isLeftOut($0) }
        return kept.count == all.count ? self : kept.reversed().reduce(nil) { CurrentContainers($1, $0) }
    }

    private func behind(_ first: CurrentContainers?) -> CurrentContainers {
        (first?.cores ?? []).reversed().reduce(self) { CurrentContainers($1, $0) }
    }

    private var list: UnfoldFirstSequence<CurrentContainers> { sequence(first: self) { $0.others } }
    private var cores: [ContainerCore] { list.map(\.last) }

    /// The containers of the current task, the last one first.
    static var all: [ContainerCore] {
        guard let current = Container.current else { return [] }
        return [current.core] + (beside(current)?.cores ?? [])
    }

    /// The first result that is not nil for a container before the current one, the last of them first.
    static func first<Found>(before current: Container, _ find: (ContainerCore) -> Found?) -> Found? {
        guard let others = beside(current) else { return nil }
        for containers in others.list { if let found = find(containers.last) { return found } }
        return nil
    }
}

extension Container {
    /// Makes this container the current one for a body, which remains part of the bodies that it runs in.
    nonisolated(nonsending) func whileCurrent<R>(
        _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R {
        let all = CurrentContainers.beginning(with: core)
        // Nil hides a list from before the task's current container was cleared.
        if all == nil, CurrentContainers.bound == nil { return try await Container.$current.bind(self, body) }
        return try await CurrentContainers.$bound.bind(all) { try await Container.$current.bind(self, body) }
    }
}

extension Container {
    /// Makes this container the current one for a synchronous body.
    nonisolated func whileCurrent<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        let result: Result<R, Failure> = CurrentContainers.$bound.withValue(CurrentContainers.beginning(with: core)) {
            Container.$current.withValue(self) { Result(catching: body) }
        }
        return try result.get()
    }
}

extension ContainerCore {
    /// Whether a container that is made current inside this one's body answers every request that this one would.
    fileprivate func isReplaced(by next: ContainerCore) -> Bool {
        if isAboveOrSame(next) { return true }
        guard table.isClosed else { return false }
        // An ended scope refuses its own requests by itself, and stands for the open containers above.
        return lineage.first { !$0.table.isClosed }.map { $0.isAboveOrSame(next) } ?? true
    }

    /// The innermost open container that matches, from this one up to `top`, which does not count.
    ///
    /// - Parameters:
    ///   - top: A container above; nil for the root too.
    ///   - isMeant: Whether a container matches.
    /// - Returns: The container; nil without one, and when `top` is not above.
    func openCore(below top: ContainerCore?, where isMeant: (ContainerCore) -> Bool) -> ContainerCore? {
        var found: ContainerCore?
        var core: ContainerCore? = self
        while let current = core, current !== top {
            if found == nil, !current.table.isClosed, isMeant(current) { found = current }
            core = current.parent
        }
        return core === top ? found : nil
    }
}
