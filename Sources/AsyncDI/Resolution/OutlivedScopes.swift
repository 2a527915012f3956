/// Ended scopes that a task has outlived: one of them is still the task's current scope.
///
/// Attached to the graph of a request that such a task makes to an outer container, and so known to all nested requests
/// in the task. An instance of the outer container must not replace one that belonged to a scope: neither as the answer
/// nor as a dependency of the answer. Instances that their owner creates are shared by all requests, and are not
/// checked.
final class OutlivedScopes: Sendable {
    /// The scopes, innermost first, each directly inside the next one.
    let scopes: [any ResolutionHost]
    /// The graph itself, independent of the task that uses it.
    let graph: ResolutionGraph

    init(_ scopes: [any ResolutionHost], using graph: ResolutionGraph) {
        self.scopes = scopes
        self.graph = graph
    }

    /// Whether the scopes are below a container: requests to another one are not affected.
    func areBelow(_ host: any ResolutionHost) -> Bool { scopes.last?.isBelow(host) == true }

    /// The scope to which a key belonged, because the scope owned its instances or registered it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - binding: The requested container's registration of the key.
    /// - Returns: The scope; nil when the requested container has the same answer as the scope.
    func owner(of key: ServiceKey, answeredBy binding: Binding?) -> (any ResolutionHost)? {
        if binding?.lifetime.sharing == .resolvingContainer { return scopes.first }
        return scopes.first { scope in
            scope.registeredKeys.contains(key)
                || scope.table.fallbacks.contains {
                    $0.registration(of: key).map { $0.binding !== binding } ?? false
                }
        }
    }

    /// The scope with a wanted contribution to the service of a key, which the requested container does not have.
    func contributor(
        to key: ServiceKey, keyedBy type: (any Any.Type)?, requestedFrom table: InstanceTable
    ) -> (any ResolutionHost)? {
        scopes.first { scope in
            scope.registeredKeys.contains {
                $0.contribution(keyedBy: type) != nil && $0.service == key.service
                    && areEqual($0.qualifier, key.qualifier)
            }
                || scope.table.fallbacks.contains { fallback in
                    fallback.host.contributions(to: key).contains {
                        $0.contribution(keyedBy: type) != nil
                            && fallback.registration(of: $0)?.binding !== table.registration(of: $0)?.binding
                    }
                }
        }
    }
}

extension Request {
    /// The number of the innermost scope that the requesting task has outlived; nil without one.
    var outlivedScope: UInt64? { (graph?.outlived ?? asker?.outlived)?.scopes.first?.number }

    /// The scopes that the requesting task has outlived, if they are below the requested container.
    private var outlived: OutlivedScopes? {
        guard let outlived = graph?.outlived ?? asker?.outlived, outlived.areBelow(host) else { return nil }
        return outlived
    }

    /// Whether the rules for a task that has outlived its scope may apply, which rules out the short way.
    var isOfOutlivingTask: Bool { graph?.outlived != nil || asker?.isOfOutlivingTask == true }

    /// A task that has outlived a scope must not receive another instance in place of the scope's own.
    func checkOutlived(answeredBy binding: Binding?) throws {
        guard isOfOutlivingTask, let scope = outlived?.owner(of: key, answeredBy: binding) else { return }
        throw outlivedError(scope)
    }

    /// The same for contributions.
    func checkOutlivedContributions(keyedBy type: (any Any.Type)?) throws {
        if let scope = contributor(keyedBy: type) { throw outlivedError(scope) }
    }

    /// Whether the key was known in a scope that the requesting task has outlived.
    ///
    /// A wrapper of the service then throws when it is used.
    var wasKnown: Bool { outlived?.owner(of: key, answeredBy: nil) != nil }
    /// Whether such a scope had a wanted contribution.
    func wasContributed(keyedBy type: (any Any.Type)?) -> Bool { contributor(keyedBy: type) != nil }

    private func contributor(keyedBy type: (any Any.Type)?) -> (any ResolutionHost)? {
        outlived?.contributor(to: key, keyedBy: type, requestedFrom: host.table)
    }

    private func outlivedError(_ scope: any ResolutionHost) -> ResolutionError {
        failure(
            .disposed, "\(key) belonged to \(scope.displayName), which ended before this task requested it.",
            advice: "Resolve it while the scope is open, let withScope await the task, or open a scope in the task.")
    }
}
