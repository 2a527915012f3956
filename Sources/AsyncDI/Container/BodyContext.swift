/// The scope whose body a task runs, also where the body has made another container the current one.
enum BodyContext {
    /// The innermost scope with a body among the current containers before the last one; nil without any.
    ///
    /// A body that `withScope` runs in another container binds only the current container, once for each request. The
    /// scope of such a body remembers the one around it: ``ContainerCore/outerBody``.
    @TaskLocal static var outer: ContainerCore?

    /// The containers whose scopes the current task may be working in, the innermost first.
    static var places: [ContainerCore] {
        var places: [ContainerCore] = []
        var seen = 0
        // The current scope's own memory first: it may be newer than the task-local.
        for first in [Container.current?.core, outer] {
            if let first, !places.contains(where: { $0 === first }) { places.append(first) }
            while seen < places.count {
                places[seen].forEachOuterBody { outer in
                    if !places.contains(where: { $0 === outer }) { places.append(outer) }
                }
                seen += 1
            }
        }
        return places
    }

    /// The innermost scope below a container among those whose bodies the current task works in, for a current
    /// container of another one: a library in the body of a request may have its own.
    static func scope(below container: ContainerCore, around current: ContainerCore) -> ContainerCore? {
        // Mostly the current scope is in no other body, and no list is needed.
        var isInBody = outer != nil
        current.forEachOuterBody { _ in isInBody = true }
        return isInBody ? places.first(where: container.isAboveOrSame) : nil
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
    /// Passes the scopes in whose bodies this container, and those above it, were opened.
    fileprivate func forEachOuterBody(_ body: (ContainerCore) -> Void) {
        var next: ContainerCore? = self
        while let core = next {
            if let outer = core.outerBody { body(outer) }
            next = core.parent
        }
    }

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
