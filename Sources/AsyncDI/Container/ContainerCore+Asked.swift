/// Which container answers a request made outside every factory, inside and after `withScope`.
extension ContainerCore {
    /// The container that a request made outside every factory asks: the innermost current scope below this one.
    ///
    /// It may have ended: then nothing is found at once, and the request goes the way of ``resolver``.
    var asked: ContainerCore {
        guard let current = Container.current?.core, current !== self, isAboveOrSame(current) else { return self }
        return current
    }

    /// What such a request asks, if nothing is found at once.
    ///
    /// A task may outlive its current scope. It asks the next container outwards that is open, as if the scope were not
    /// there; only what belonged to the scope is refused.
    var resolver: Resolver {
        let current = asked
        guard current !== self, current.hasEnded else { return Resolver(host: current, run: nil) }
        var ended = [current]
        var next = current.parent
        while let core = next, core !== self, core.hasEnded {
            ended.append(core)
            next = core.parent
        }
        return Resolver(
            host: next ?? self, run: nil, graph: ResolutionGraph(ResolutionGraph(), outliving: ended))
    }

    /// Whether a request of this container was refused only because the current scope, which it went to, has ended
    /// meanwhile: it is made again, as one that comes after the end.
    ///
    /// - Parameters:
    ///   - error: Why it was refused.
    ///   - host: Where it went.
    ///   - depth: The length of the path to what was asked for; a longer one is that of a factory, which has begun in
    ///     the scope.
    /// - Returns: Whether it is.
    func isOvertaken(_ error: any Error, asking host: any ResolutionHost, depth: Int = 1) -> Bool {
        guard host !== self, host.table.isClosed, let error = error as? ResolutionError else { return false }
        return error.code == .disposed && error.path.count <= depth
    }

    /// Whether the container is disposed or, for requests from outside its hooks, is being disposed.
    var hasEnded: Bool { table.isClosed }

    var registeredKeys: [ServiceKey] {
        withState { $0.phase == .disposed ? $0.formerKeys : $0.registrations.inOrder.map(\.key) }
    }
}
