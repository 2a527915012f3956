/// Scopes that have ended before a task in which one of them is still the current one.
///
/// Goes with the graph of what such a task asks an outer container for, so that it is known wherever that leads in the
/// task: what belonged to a scope is not replaced by what the container around it has, neither in the answer nor in
/// what the answer is made of. What is made by its owner is made for everybody, and not looked at.
final class OutlivedScopes: Sendable {
    /// The innermost first, each directly inside the next one.
    let scopes: [any ResolutionHost]
    /// The graph itself, whichever task uses it.
    let graph: ResolutionGraph

    init(_ scopes: [any ResolutionHost], using graph: ResolutionGraph) {
        self.scopes = scopes
        self.graph = graph
    }

    /// Whether the scopes are below a container: requests to another one are not affected.
    func areBelow(_ host: any ResolutionHost) -> Bool {
        var above = scopes.last?.parentHost
        while let current = above {
            if current === host { return true }
            above = current.parentHost
        }
        return false
    }

    /// The scope to which a key belonged: because its instances are the scope's own, or because it was registered
    /// there.
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

    /// The scope in which something that is wanted was contributed to the service of a key.
    func contributor(to key: ServiceKey, where isWanted: (ContributionID) -> Bool) -> (any ResolutionHost)? {
        scopes.first { scope in
            scope.registeredKeys.contains { contribution in
                guard case .contribution(let id) = contribution.role, isWanted(id) else { return false }
                return contribution.service == key.service && areEqual(contribution.qualifier, key.qualifier)
            }
        }
    }
}

extension Request {
    /// The scopes that the asking task has outlived, where they are below the container asked.
    private var outlived: OutlivedScopes? {
        guard isOfOutlivingTask, let outlived = graph?.outlived ?? asker?.outlived, outlived.areBelow(host) else {
            return nil
        }
        return outlived
    }

    /// Whether the rules for a task that has outlived its scope may apply: then nothing is answered the short way.
    var isOfOutlivingTask: Bool { graph?.outlived != nil || asker?.isOfOutlivingTask == true }

    /// A task that has outlived a scope must not receive another instance in place of the scope's own.
    func checkOutlived(answeredBy binding: Binding?) throws {
        guard isOfOutlivingTask, let scope = outlived?.owner(of: key, answeredBy: binding) else { return }
        throw outlivedError(scope)
    }

    /// The same for contributions.
    func checkOutlivedContributions(where isWanted: (ContributionID) -> Bool) throws {
        guard isOfOutlivingTask, let scope = outlived?.contributor(to: key, where: isWanted) else { return }
        throw outlivedError(scope)
    }

    /// Whether the key was known in a scope that the asking task has outlived: a wrapper of it says so when it is used.
    var wasKnown: Bool { isOfOutlivingTask && outlived?.owner(of: key, answeredBy: nil) != nil }
    /// Whether something was contributed there.
    func wasContributed(where isWanted: (ContributionID) -> Bool = { _ in true }) -> Bool {
        isOfOutlivingTask && outlived?.contributor(to: key, where: isWanted) != nil
    }

    private func outlivedError(_ scope: any ResolutionHost) -> ResolutionError {
        ResolutionError(
            .disposed,
            "\(key) belonged to \(scope.displayName), which ended before this task requested it.",
            advice:
                "Resolve it before the task begins, await the task inside withScope, or open a scope in the task.",
            steps: pathToHere, asker: asker)
    }
}
