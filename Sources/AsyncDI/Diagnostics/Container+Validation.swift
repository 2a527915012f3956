extension Container {
    /// Checks the registrations of this container, and what they lead to, without running a factory.
    ///
    /// Found are, all at once: what is missing, or registered with other arguments; cycles; long-lived services that
    /// would hold a shorter-lived one; registrations that contradict themselves, and rejected duplicates; decorations
    /// of nothing. Looked into are initializers registered with `using:` and the ``Registration/dependencies(_:)`` that
    /// closures declare; the other closures are listed by ``validationReport()``.
    /// ```swift
    /// @Test func `the container is complete`() async throws {
    ///     try await makeContainer().validate()
    /// }
    /// ```
    /// Dependencies are looked up as a resolution would. Dependencies that are `Optional` may be missing; those that
    /// are ``Lazy`` or ``Provider`` must be there, but close no cycle. A value that each scope supplies is known by
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

    /// Checks that what was recorded is what was declared: in a test that has been through the whole application.
    ///
    /// - Parameter graph: What was recorded in this container.
    /// - Throws: ``ValidationError`` with everything that is not declared, each with the code
    ///   ``ResolutionError/Code/undeclaredDependency``; ``ResolutionError`` with the code `disposed`.
    public func validate(against graph: DependencyGraph) throws {
        let undeclared = try comparison(with: graph).undeclared
        if undeclared.isEmpty { return }
        throw ValidationError(problems: core.undeclaredErrors(undeclared, in: graph))
    }

    /// Compares a recorded run with what was declared.
    ///
    /// Compared is what each registration of this container and of those above it asks for. Left out are services whose
    /// dependencies are not known or that are decorated, services of scopes, and what is made by `make`, which cannot
    /// be declared. What is declared as ``Lazy`` or ``Provider`` may be resolved with any arguments. What is declared
    /// and was not resolved is no mistake by itself: a factory may need it at times only.
    ///
    /// - Parameter graph: What was recorded in this container.
    /// - Returns: What was not declared, and what was not seen.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func comparison(with graph: DependencyGraph) throws -> GraphComparison {
        try core.checkOpen()
        return core.comparison(of: graph)
    }

    /// What the registrations of this container declare, as a graph: without running a factory.
    ///
    /// Its ``DependencyGraph/contract`` is what is worth keeping in a file, beside the sources: a later graph is compared
    /// with it by ``DependencyGraph/difference(from:)``.
    ///
    /// - Returns: The graph; a closure that declares nothing is a node without edges that is marked as opaque.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func declaredGraph() throws -> DependencyGraph {
        let graph = try core.staticGraph().graph
        return DependencyGraph(recorded: graph.records, opaque: graph.unknown)
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
                "\(key) is decorated in \(displayName), but is not registered there, nor where it looks.",
                advice: "Decorated at \(decoration.site). Register it, or remove the decoration.",
                steps: [PathStep(key: key, binding: nil, pack: .none)])
        }
    }
}
