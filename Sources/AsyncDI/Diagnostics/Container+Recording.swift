extension Container {
    /// Begins to record the requests between services in this container and in its scopes, for ``dependencyGraph()``.
    ///
    /// The recording contains every factory that begins until ``stopRecording()``, and the services that it resolves:
    /// through its resolver, a captured container, a ``Lazy`` or a ``Provider``, from child tasks and from detached
    /// ones that use the resolver. A request to a captured container in a detached task belongs to no factory.
    /// Existing instances are not created again for the recording: start before the first resolve, or after
    /// ``reset(throughAncestors:)``. A new recording discards an earlier one.
    ///
    /// A resolve outside every factory costs the same while recording; one inside pays for a lock and a few look-ups.
    public func startRecording() { core.startRecording() }

    /// Ends the recording; ``dependencyGraph()`` goes on giving it.
    public func stopRecording() { core.stopRecording() }

    /// What has been recorded since ``startRecording()``; an empty graph when nothing was.
    ///
    /// Edges lead from the service whose factory asked to the one that it asked for. A service under several types has
    /// a node for each; everything contributed to `S` is behind a node `[S]`. Services of scopes are nodes too: one for
    /// all scopes of a container.
    ///
    /// - Returns: The graph, with lifetimes, owners, counts and durations in ``DependencyGraph/details``.
    public func dependencyGraph() -> DependencyGraph {
        core.records.map { DependencyGraph(recorded: $0) } ?? DependencyGraph()
    }
}

extension DependencyGraph {
    /// The graph of what was recorded, or declared by registrations of which some do not say everything.
    init(recorded records: Recorder.Records, opaque: Set<RecordedService> = []) {
        let names = GraphNames(Array(records.services.keys.map { ($0, records.services[$0]?.site) }))
        let nodes = records.services.map { service, facts in
            Node(
                names[service], service: service.text, lifetime: facts.lifetime,
                owner: service.isGroup ? nil : service.owner, site: facts.site?.description,
                creations: facts.creations, failures: facts.failures, duration: facts.duration,
                isOpaque: opaque.contains(service))
        }
        let edges = records.dependencies.map {
            Edge(from: names[$0.from], to: names[$0.to], isDeferred: $0.isDeferred)
        }
        self.init(nodes, edges: edges)
    }
}
