extension Container {
    /// Checks the registrations of this container and their dependencies, without running a factory.
    ///
    /// Finds, all at once: services that are missing or registered with other arguments; cycles; long-lived services
    /// that would hold a shorter-lived one; contradictory registrations and rejected duplicates; decorations without a
    /// service. The parameters of initializers registered with `using:` are known, and closures can declare
    /// ``Registration/dependencies(_:)``; ``validationReport()`` lists the other closures.
    /// ```swift
    /// @Test func `the container is complete`() async throws {
    ///     try await makeContainer().validate()
    /// }
    /// ```
    /// Dependencies are looked up as by a resolution. An `Optional` dependency may be missing; a ``Lazy`` or
    /// ``Provider`` one must be registered, but closes no cycle. A value that each scope supplies is declared with
    /// ``Registration/init(expected:qualifier:fileID:line:)``.
    ///
    /// - Throws: ``ValidationError`` with every problem; ``ResolutionError`` with the code `disposed`.
    public func validate() throws {
        let report = try validationReport()
        if !report.problems.isEmpty { throw ValidationError(problems: report.problems) }
    }

    /// Performs the same checks as ``validate()``, and lists the registrations that it could not look into.
    ///
    /// The requests of decorations, and of hooks of an initializer registered with `using:`, are neither checked nor
    /// listed, unless the registration declares them: ``Registration/dependencies(_:)``.
    ///
    /// - Returns: The problems, and the closures that declare no dependencies.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func validationReport() throws -> ValidationReport {
        let (graph, invalid) = try core.staticGraph()
        return core.report(on: graph, invalid + core.decorationProblems())
    }

    /// Checks that the recorded dependencies are declared, in a test that exercises the whole application.
    ///
    /// - Parameter graph: A recording of this container.
    /// - Throws: ``ValidationError`` with every undeclared dependency, each with the code
    ///   ``ResolutionError/Code/undeclaredDependency``; ``ResolutionError`` with the code `disposed`.
    public func validate(against graph: DependencyGraph) throws {
        let undeclared = try comparison(with: graph).undeclared
        if undeclared.isEmpty { return }
        throw ValidationError(problems: core.undeclaredErrors(undeclared, in: graph))
    }

    /// Compares a recording with the declared dependencies.
    ///
    /// Compares the dependencies of each registration of this container and of those above it. Leaves out services
    /// whose dependencies are unknown or that are decorated, services of scopes, and instances of `make`, which cannot
    /// be declared; and of registrations that read the same, those whose lines the recording does not have. A
    /// dependency declared as ``Lazy`` or ``Provider`` may be resolved with any arguments. A declared
    /// dependency that was not resolved is no mistake by itself: a factory may need it only in some runs.
    ///
    /// - Parameter graph: A recording of this container.
    /// - Returns: The undeclared dependencies, and the declared ones that were not resolved.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func comparison(with graph: DependencyGraph) throws -> GraphComparison {
        try core.checkOpen()
        return GraphComparison(of: graph, with: core.graphHereAndAbove)
    }

    /// Returns the declared dependencies of this container as a graph, without running a factory.
    ///
    /// Keep its ``DependencyGraph/contract`` in a file beside the sources, and compare later graphs with it:
    /// ``DependencyGraph/difference(from:)``.
    ///
    /// - Returns: The graph; a closure that declares nothing is a node without edges that is marked as opaque.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func declaredGraph() throws -> DependencyGraph {
        let graph = try core.staticGraph().graph
        return DependencyGraph(recorded: graph.records, opaque: graph.incomplete)
    }
}

extension Container {
    /// Checks the services that resolving the given ones leads to, and the registrations of a scope, without running a
    /// factory.
    ///
    /// In a scope, it finds a mistake that ``validate()`` of the application's container cannot see: a value that each
    /// scope must supply, that these services need, and that this scope does not supply.
    /// ```swift
    /// let scope = try await container.openScope { Registration(expected: Request.self) }
    /// let report = try await scope.validationReport(resolving: [OrderHandler.self])
    /// ```
    /// A ``Registration/init(expected:qualifier:fileID:line:)`` of the scope itself stands for the value to be
    /// supplied.
    ///
    /// - Parameter services: The services that are resolved here, whatever their qualifiers and arguments.
    /// - Returns: The problems, and the closures that declare no dependencies.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func validationReport(resolving services: [any Any.Type]) throws -> ValidationReport {
        let (own, invalid) = try core.ownRegistrations()
        // Another container's registrations may be for its scopes alone: `validationReport()` checks those.
        var roots = core.isScope ? own : []
        var missing = core.isScope ? core.decorationProblems() : []
        for service in services {
            guard let found = core.roots(of: service) else {
                missing.append(core.miss(ServiceKey(service).unwrapped(service), asker: nil))
                continue
            }
            roots += found
        }
        let graph = StaticGraph(of: roots, askedBy: core)
        return core.report(on: graph, invalid + missing + graph.valuesNotSupplied)
    }
}

extension DependencyGraph {
    /// Returns the declared dependencies of several containers as one graph.
    ///
    /// Scopes of one container, and containers with the same name, count as one owner. There, registrations of one
    /// service are nodes of their own, unless they have one line and one lifetime, or are values that each scope
    /// supplies. The order of the containers has no influence.
    ///
    /// - Parameter containers: The containers.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public init(declaredBy containers: [Container]) throws {
        var (services, unknown) = ([RecordedService: Recorder.Facts](), Set<RecordedService>())
        var dependencies: Set<Recorder.Dependency> = []
        for container in containers {
            let graph = try container.core.staticGraph().graph
            func marked(_ service: RecordedService) -> RecordedService {
                graph.records.services[service].map(service.marked) ?? service
            }
            services.merge(graph.records.services.map { (marked($0.key), $0.value) }) { one, other in
                one.isRegistered(before: other) ? one : other
            }
            dependencies.formUnion(graph.records.dependencies.map { $0.mapped(marked) })
            unknown.formUnion(graph.incomplete.map(marked))
        }
        // A mark is needed only beside another registration.
        let counts = Dictionary(grouping: services.keys, by: \.unmarked).mapValues(\.count)
        func name(_ service: RecordedService) -> RecordedService {
            counts[service.unmarked] == 1 ? service.unmarked : service
        }
        let records = Recorder.Records(
            services: Dictionary(uniqueKeysWithValues: services.map { (name($0.key), $0.value) }),
            dependencies: Set(dependencies.map { $0.mapped(name) }))
        self.init(recorded: records, opaque: Set(unknown.map(name)))
    }
}

extension ContainerCore {
    /// The graph of this container's registrations, and the problems of invalid ones.
    func staticGraph() throws -> (graph: StaticGraph, problems: [ResolutionError]) {
        let (roots, problems) = try ownRegistrations()
        return (StaticGraph(of: roots, askedBy: self), problems)
    }

    fileprivate func ownRegistrations() throws -> (roots: [StaticGraph.Root], problems: [ResolutionError]) {
        let (bindings, problems) = try withState { state in
            guard state.life.isOpen else { throw disposedError(nil, asker: nil) }
            return (state.registrations.inOrder, state.invalidRegistrations)
        }
        return (bindings.map { StaticGraph.Root(binding: $0, table: table) }, problems)
    }

    /// The registrations that a request for a service may find here, with any qualifier and arguments, or those behind
    /// a wrapper type; nil when the service is missing.
    fileprivate func roots(
        of service: any Any.Type, isOptional: Bool = false, isForLater: Bool = false
    ) -> [StaticGraph.Root]? {
        func found(where isMeant: (ServiceKey) -> Bool) -> [StaticGraph.Root]? {
            let registered = registeredHereAndAbove.filter { isMeant($0.binding.key) }
            if registered.isEmpty { return nil }
            return registered.filter { table.registration(of: $0.binding.key)?.binding === $0.binding }.map {
                StaticGraph.Root(
                    binding: $0.binding, table: $0.table, isOptional: isOptional, isForLater: isForLater)
            }
        }
        if let found = found(where: { $0.service == service && !$0.isContribution }) { return found }
        switch (service as? any WrapperType.Type)?.need {
        case .nothing?: return []
        case .optional(let inner)?: return roots(of: inner, isOptional: true, isForLater: isForLater) ?? []
        case .later(let inner, let isHeld)?:
            return roots(of: inner, isOptional: isOptional, isForLater: isForLater || !isHeld)
        case .contributions(let inner, let keyType)?:
            return found { $0.service == inner && $0.contribution(keyedBy: keyType) != nil }
        case nil: return nil
        }
    }

    /// The problems of a graph, and those found without it, each once.
    fileprivate func report(on graph: StaticGraph, _ problems: [ResolutionError]) -> ValidationReport {
        var known: Set<String> = []
        return ValidationReport(
            problems: (problems + graph.allProblems).filter { known.insert($0.description).inserted },
            opaque: graph.opaque.map { ValidationReport.Registration(key: $0.key, site: $0.blueprint.site) })
    }
}
