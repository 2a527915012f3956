/// The container that resolves a request from outside every factory, during and after `withScope`.
extension ContainerCore {
    /// The container that resolves a request from outside every factory: the innermost current scope below this one.
    ///
    /// If that scope has ended, the look-up finds no instance, and the request uses ``resolver``.
    var asked: ContainerCore {
        guard let current = Container.current, current.core !== self else { return self }
        if isAboveOrSame(current.core) { return current.core }
        return CurrentContainers.first(before: current) { isAboveOrSame($0) ? $0 : nil } ?? self
    }

    /// The resolver of such a request, if the look-up finds no instance.
    ///
    /// A task may outlive its current scope. It then uses the next open container around the scope; only services of
    /// the scope are refused.
    var resolver: Resolver {
        let current = asked
        guard current !== self, current.table.isClosed else { return Resolver(host: current, run: nil) }
        let ended = current.lineage.prefix { $0 !== self && $0.table.isClosed }
        return (ended.last?.parent ?? self).resolver(outliving: ended)
    }

    /// The resolver of a request from outside every factory by code that did not name this container: if it has ended,
    /// that of the next open container around it, which refuses the services of the ended ones.
    var openResolver: Resolver {
        guard let open = openAround else { return resolver }
        // Those of the current scope too, if that is below.
        return open.resolver(outliving: asked.lineage.prefix { $0 !== open })
    }

    /// The next open container around this one, if this one has ended.
    var openAround: ContainerCore? { table.isClosed ? lineage.first { !$0.table.isClosed } : nil }

    private func resolver(outliving ended: [ContainerCore]) -> Resolver {
        Resolver(host: self, run: nil, graph: ResolutionGraph(ResolutionGraph(), outliving: ended))
    }

    /// Whether a request of this container failed only because its current scope ended meanwhile.
    ///
    /// It is then repeated, as a request after that end.
    ///
    /// - Parameters:
    ///   - error: The reason of the failure.
    ///   - host: The container that received the request.
    ///   - depth: The length of the request's path; a longer path belongs to a factory that began in the scope.
    /// - Returns: Whether it must be repeated.
    func isOvertaken(_ error: any Error, asking host: any ResolutionHost, depth: Int) -> Bool {
        guard host !== self, host.table.isClosed, let error = error as? ResolutionError else { return false }
        return error.code == .disposed && error.path.count <= depth && !error.isOfUserCode
    }

    var registeredKeys: [ServiceKey] {
        withState { $0.life.phase == .disposed ? $0.formerKeys : $0.registrations.inOrder.map(\.key) }
    }
}

extension Container {
    /// The current container; if it has ended, the nearest open one around it.
    static var openCurrent: Container? {
        guard let current, current.core.table.isClosed else { return current }
        for core in current.core.lineage where !core.table.isClosed {
            if let container = core.handle() { return container }
        }
        return current
    }
}
