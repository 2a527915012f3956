/// The scope whose body a task runs, also where the body has made another container the current one.
enum BodyContext {
    /// The innermost scope with a body among the current containers before the last one; nil without any.
    ///
    /// A body that `withScope` runs in another container binds only the current container, once for each request. The
    /// scope of such a body remembers the one around it: ``ContainerCore/outerBody``.
    @TaskLocal static var outer: ContainerCore?

    /// The containers whose scopes the current task may be working in.
    static var places: [ContainerCore] {
        var places = [Container.current?.core, outer].compactMap(\.self)
        var seen = 0
        while seen < places.count {
            var next: ContainerCore? = places[seen]
            while let core = next {
                if let outer = core.outerBody, !places.contains(where: { $0 === outer }) { places.append(outer) }
                next = core.parent
            }
            seen += 1
        }
        return places
    }

    /// The innermost scope below a container among those whose bodies the current task works in, where the current
    /// container is not below it: a library may have a container of its own.
    static func scope(below container: ContainerCore, around current: ContainerCore) -> ContainerCore? {
        // The scopes around the current one first, because the task-local may be older.
        place(below: container, from: current.outerBodyFromHere) ?? place(below: container, from: outer)
    }

    private static func place(below container: ContainerCore, from first: ContainerCore?) -> ContainerCore? {
        var next = first
        while let place = next {
            if container.isAboveOrSame(place) { return place }
            next = place.outerBodyFromHere
        }
        return nil
    }
}

extension Container {
    /// Makes this container the current one for a body, which remains part of the scope's body that it runs in.
    nonisolated(nonsending) func whileCurrent<R>(
        _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R {
        guard let scope = Container.current?.core.openScopeOfBody else {
            return try await Container.$current.bind(self, body)
        }
        return try await BodyContext.$outer.bind(scope) { try await Container.$current.bind(self, body) }
    }
}

extension ContainerCore {
    /// The innermost open scope of a body, from this container up; nil without any.
    var openScopeOfBody: ContainerCore? { openCore(below: nil, where: \.isDrained) }

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
