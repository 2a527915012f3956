import AsyncDI

/// Containers with a scope of each kind open in them, and what is wrong with them.
struct Wiring {
    private let checked: [CheckedContainer]

    init(_ checked: [CheckedContainer]) { self.checked = checked }

    /// Everything that is declared, of scopes too, as one graph.
    var graph: DependencyGraph {
        get async throws {
            var containers: [Container] = []
            for one in checked {
                containers.append(one.container)
                for scope in one.scopes { containers.append(try await one.open(scope)) }
            }
            return try DependencyGraph(declaredBy: containers)
        }
    }

    /// The problems, then what may be worth a warning; nothing twice.
    func diagnostics(_ warnings: WiringWarnings) async throws -> [WiringDiagnostic] {
        var (problems, opaque): ([WiringDiagnostic], [WiringDiagnostic]) = ([], [])
        func note(_ report: ValidationReport) {
            problems += report.problems.map { WiringDiagnostic($0) }
            opaque += report.opaque.map { WiringDiagnostic(opaque: $0) }
        }
        for one in checked {
            note(try await one.container.validationReport())
            note(try await one.container.validationReport(resolving: one.services))
            for scope in one.scopes {
                note(try await one.open(scope).validationReport(resolving: scope.services))
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
        let roots = checked.flatMap { $0.services + $0.scopes.flatMap(\.services) }
        // What is missing is a problem, not a reason to say nothing else.
        if warnings.contains(.unused), !roots.isEmpty, let found = try? graph.unreachable(fromServices: roots) {
            // A value that a scope supplies stands for the one that is expected.
            let unused = found.nodes.filter { $0.site != nil && $0.owner?.hasPrefix("scope of ") != true }
            if found.opaque.isEmpty {
                hints += unused.map { WiringDiagnostic(unused: $0) }
            } else if !unused.isEmpty {
                hints.append(WiringDiagnostic(unused: unused, perhapsUsedBy: found.opaque))
            }
        }
        if warnings.contains(.outlivingUsers) {
            hints += graph.outlivingUsers.nodes.map { WiringDiagnostic(outlivingUsers: $0) }
        }
        return hints
    }
}

extension CheckedContainer {
    /// A scope of a kind, open: nothing is made in it.
    fileprivate func open(_ scope: Scope) async throws -> Container {
        try await container.openScope(scope.name) { scope.registrations }
    }
}
