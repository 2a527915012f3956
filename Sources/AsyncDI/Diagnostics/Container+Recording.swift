extension Container {
    /// Begins to record the requests between services in this container and in its scopes, for ``dependencyGraph()``.
    ///
    /// The recording contains every factory that ends, or resolves a service, until ``stopRecording()``, and the
    /// services that it has resolved by then: through its resolver, a captured container, a ``Lazy`` or a ``Provider``,
    /// from child tasks and from detached ones that use the resolver. A request to a captured container in a detached
    /// task belongs to no factory. Existing instances are not created again for the recording: start before the first
    /// resolve, or after ``reset(throughAncestors:)``. A new recording discards an earlier one.
    ///
    /// A request outside every factory costs the same during a recording. A request inside one takes a lock and a few
    /// look-ups.
    public func startRecording() { core.startRecording() }

    /// Ends the recording; ``dependencyGraph()`` continues to return it.
    public func stopRecording() { core.stopRecording() }

    /// Returns the recording since ``startRecording()``; an empty graph without one.
    ///
    /// An edge leads from a service to its dependency. A service under several types has a node for each; a node `[S]`
    /// stands for all contributions to `S`. Services of scopes are nodes too: one for
    /// all scopes of a container.
    ///
    /// - Returns: The graph, with lifetimes, owners, counts and durations in ``DependencyGraph/details``.
    public func dependencyGraph() -> DependencyGraph {
        core.records.map { DependencyGraph(recorded: $0) } ?? DependencyGraph()
    }
}

extension DependencyGraph {
    /// Returns a graph of recorded or declared dependencies; opaque registrations declare only a part of theirs.
    init(recorded records: Recorder.Records, named names: GraphNames? = nil, opaque: Set<RecordedService> = []) {
        let names = names ?? GraphNames(records)
        let nodes = records.services.map { service, facts in
            Node(
                names[service], service: service.text, lifetime: facts.lifetime,
                owner: service.isGroup ? nil : service.owner, site: facts.site?.description,
                creations: facts.creations, failures: facts.failures, duration: facts.duration,
                isOpaque: opaque.contains(service), isEager: facts.isEager)
        }
        let edges = records.dependencies.map {
            Edge(from: names[$0.from], to: names[$0.to], isDeferred: $0.isDeferred)
        }
        self.init(nodes, edges: edges)
    }
}
