extension Container {
    /// Checks the registrations of this container and their dependencies, without running a factory.
    ///
    /// Finds, all at once: services that are missing or registered with other arguments; cycles; long-lived services
    /// that would hold a shorter-lived one; registrations that contradict themselves, and rejected duplicates;
    /// decorations without a service. The parameters of initializers registered with `using:` are known, and closures
    /// may declare ``Registration/dependencies(_:)``; ``validationReport()`` lists the other closures.
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

    /// Checks the same as ``validate()``, and says what could not be looked into.
    ///
    /// - Returns: The problems, and the closures that declare no dependencies.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func validationReport() throws -> ValidationReport {
        let (graph, setUpProblems) = try core.staticGraph()
        let known = Set(setUpProblems.map(\.description))
        return ValidationReport(
            problems: setUpProblems + core.decorationsOfNothing()
                + graph.allProblems.filter { !known.contains($0.description) },
            opaque: graph.opaque.map { ValidationReport.Registration(key: $0.key, site: $0.blueprint.site) })
    }

    /// Checks that the recorded dependencies are the declared ones, in a test that exercises the whole application.
    ///
    /// - Parameter graph: A recording of this container.
    /// - Throws: ``ValidationError`` with everything that is not declared, each with the code
    ///   ``ResolutionError/Code/undeclaredDependency``; ``ResolutionError`` with the code `disposed`.
    public func validate(against graph: DependencyGraph) throws {
        let undeclared = try comparison(with: graph).undeclared
        if undeclared.isEmpty { return }
        throw ValidationError(problems: core.undeclaredErrors(undeclared, in: graph))
    }

    /// Compares a recorded run with the declared dependencies.
    ///
    /// Compares the dependencies of each registration of this container and of those above it. Leaves out services
    /// whose dependencies are unknown or that are decorated, services of scopes, and instances of `make`, which cannot
    /// be declared. A dependency declared as ``Lazy`` or ``Provider`` may be resolved with any arguments. A declared
    /// dependency that was not resolved is no mistake by itself: a factory may need it only at times.
    ///
    /// - Parameter graph: A recording of this container.
    /// - Returns: The undeclared dependencies, and the declared ones that were not seen.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func comparison(with graph: DependencyGraph) throws -> GraphComparison {
        try core.checkOpen()
        return core.comparison(of: graph)
    }

    /// Returns the declared dependencies of this container as a graph, without running a factory.
    ///
    /// - Returns: The graph; a closure that declares nothing is a node without edges.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func declaredGraph() throws -> DependencyGraph {
        DependencyGraph(recorded: try core.staticGraph().graph.records)
    }
}

extension ContainerCore {
    /// The graph of this container's registrations, and what was wrong with them when it was set up.
    fileprivate func staticGraph() throws -> (graph: StaticGraph, problems: [ResolutionError]) {
        let (bindings, problems) = try withState { state in
            guard state.phase == .open else { throw disposedError(nil, asker: nil) }
            return (state.registrations.inOrder, state.setUpProblems)
        }
        return (StaticGraph(of: bindings, in: self), problems)
    }

    fileprivate func checkOpen() throws {
        if withState({ $0.phase != .open }) { throw disposedError(nil, asker: nil) }
    }

    /// Decorations that apply to no registration, here or where this container looks.
    fileprivate func decorationsOfNothing() -> [ResolutionError] {
        let decorations = withState { $0.decorations }
        return decorations.compactMap { decoration in
            let isUsed = searchOrder.contains { core in
                core.withState { $0.registrations.keys(of: decoration.service).contains(where: decoration.applies) }
            }
            if isUsed { return nil }
            let key = ServiceKey(decoration.service, qualifier: decoration.qualifier)
            return ResolutionError(
                .notRegistered,
                "\(key) is decorated in \(displayName), but is registered neither there nor in any container it searches.",
                advice: "Decorated at \(decoration.site). Register it, or remove the decoration.",
                steps: [PathStep(key: key, binding: nil, pack: .none)])
        }
    }
}
