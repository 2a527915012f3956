import AsyncDI

/// Containers with an open scope of each kind, and their problems.
struct Wiring {
    private let checked: [CheckedContainer]
    /// An open scope of each kind, by container; not opened by their names, of which two may be the same.
    private let scopes: [[(scope: OwnedScope, services: [any Any.Type])]]

    /// Opens a scope of each kind, in which no instance is created.
    init(_ checked: [CheckedContainer]) throws {
        self.checked = checked
        scopes = try checked.map { one in
            try one.scopes.map { scope in
                (try OwnedScope(in: one.container, name: scope.name) { scope.registrations }, scope.services)
            }
        }
    }

    /// All declared dependencies, including those of scopes, as one graph.
    var graph: DependencyGraph {
        get async throws {
            var containers: [Container] = []
            for (one, scopes) in zip(checked, scopes) {
                containers.append(one.container)
                containers += scopes.map(\.scope.container)
            }
            return try DependencyGraph(declaredBy: containers)
        }
    }

    /// The problems, then the warnings, each once: a problem of a container is not repeated for each of its scopes.
    func diagnostics(_ warnings: WiringWarnings) async throws -> [WiringDiagnostic] {
        var (problems, opaque): ([WiringDiagnostic], [WiringDiagnostic]) = ([], [])
        for (one, scopes) in zip(checked, scopes) {
            var known: [ResolutionError] = []
            for report in [
                try await one.container.validationReport(),
                try await one.container.validationReport(resolving: one.services),
            ] {
                known += report.problems
                opaque += report.opaque.map { WiringDiagnostic(opaque: $0) }
            }
            problems += known.map { WiringDiagnostic($0) }
            for (scope, services) in scopes {
                let report = try await scope.container.validationReport(resolving: services)
                let own = report.problems.filter { problem in
                    !known.contains { $0.code == problem.code && $0.path == problem.path && $0.sites == problem.sites }
                }
                problems += own.map { WiringDiagnostic($0) }
                opaque += report.opaque.map { WiringDiagnostic(opaque: $0) }
            }
        }
        var found = problems
        if warnings.contains(.opaqueClosures) { found += opaque }
        if !warnings.isDisjoint(with: [.unused, .outlivingUsers]) { found += try await hints(warnings) }
        var seen: Set<WiringDiagnostic> = []
        return found.filter { seen.insert($0).inserted }
    }

    private func hints(_ warnings: WiringWarnings) async throws -> [WiringDiagnostic] {
        let graph = try await graph
        var hints: [WiringDiagnostic] = []
        if warnings.contains(.unused) { hints += try unused(in: graph) }
        if warnings.contains(.outlivingUsers) {
            let found = graph.outlivingUsers(besides: services)
            hints +=
                found.opaque.isEmpty || found.isEmpty
                ? found.nodes.map { WiringDiagnostic(outlivingUsers: $0) }
                : [WiringDiagnostic(outlivingUsers: found.nodes, perhapsUsedBy: found.opaque)]
        }
        return hints
    }

    /// Registrations that the services of the check do not reach; none without such services.
    private func unused(in graph: DependencyGraph) throws -> [WiringDiagnostic] {
        // A missing one is a problem, but does not stop the warnings about the others.
        let roots = services.filter { (try? graph.unreachable(fromServices: [$0])) != nil }
        if roots.isEmpty { return [] }
        let found = try graph.unreachable(fromServices: roots)
        // A value that a scope supplies stands for the expected one, and is used where that is.
        let supplied = graph.details.filter { $0.owner?.hasPrefix("scope of ") == true }
        let besides = try graph.unreachable(from: supplied.map(\.name))
        let unused = found.nodes.filter { $0.site != nil && besides.nodes.contains($0) }
        let opaque = found.opaque + besides.opaque.filter { !found.opaque.contains($0) }
        if opaque.isEmpty { return unused.map { WiringDiagnostic(unused: $0) } }
        return unused.isEmpty ? [] : [WiringDiagnostic(unused: unused, perhapsUsedBy: opaque)]
    }

    /// The services that the application resolves itself.
    private var services: [any Any.Type] { checked.flatMap { $0.services + $0.scopes.flatMap(\.services) } }
}
