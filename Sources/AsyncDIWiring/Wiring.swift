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
        get throws {
            try DependencyGraph(
                declaredBy: zip(checked, scopes).flatMap { [$0.container] + $1.map(\.scope.container) })
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
        if !warnings.isDisjoint(with: [.unused, .outlivingUsers]) { found += try hints(warnings) }
        var seen: Set<WiringDiagnostic> = []
        return found.filter { seen.insert($0).inserted }
    }

    private func hints(_ warnings: WiringWarnings) throws -> [WiringDiagnostic] {
        let graph = try graph
        var hints: [WiringDiagnostic] = []
        if warnings.contains(.unused) { hints += try unused(in: graph) }
        if warnings.contains(.outlivingUsers) {
            let found = graph.outlivingUsers(besides: services)
            let uncertain = found.nodes.filter { !graph.opaqueUsers(of: $0).isEmpty }
            hints += found.nodes.filter { !uncertain.contains($0) }.map { WiringDiagnostic(outlivingUsers: $0) }
            if !uncertain.isEmpty {
                hints.append(
                    WiringDiagnostic(
                        "outlivingUsers", whether: "live longer than everything that uses them", uncertain,
                        perhapsUsedBy: found.opaque))
            }
        }
        return hints
    }

    /// Registrations that the services of the check do not reach; none without such services.
    private func unused(in graph: DependencyGraph) throws -> [WiringDiagnostic] {
        // A missing one is a problem, but does not stop the warnings about the others.
        let roots = services.filter { (try? graph.unreachable(fromServices: [$0])) != nil }
        if roots.isEmpty { return [] }
        let found = try graph.unreachable(fromServices: roots)
        // The registrations of scopes may be used by what the application resolves, through optional dependencies too,
        // which the graph shows only where they are registered.
        let ofScopes = try graph.unreachable(from: graph.details.filter(\.isOfScope).map(\.name))
        var unused = found.nodes.filter(ofScopes.nodes.contains)
        let opaque = found.opaque + ofScopes.opaque.filter { !found.opaque.contains($0) }
        unused.removeAll { $0.site == nil || $0.isOfScope }
        if opaque.isEmpty { return unused.map { WiringDiagnostic(unused: $0) } }
        if unused.isEmpty { return [] }
        return [WiringDiagnostic("unused", whether: "are used", unused, perhapsUsedBy: opaque)]
    }

    /// The services that the application resolves itself.
    private var services: [any Any.Type] { checked.flatMap { $0.services + $0.scopes.flatMap(\.services) } }
}

extension DependencyGraph.Node {
    fileprivate var isOfScope: Bool { owner?.hasPrefix("scope of ") == true }
}
