/// The errors of requests that break a rule.
extension ResolutionError {
    /// The error for a long-lived instance that would hold one that ends before it or can be reset with its lifetime.
    static func captive(
        _ holder: Binding, in home: any ResolutionHost, holding key: ServiceKey, of place: any ResolutionHost,
        resetWith lifetime: Lifetime?, steps: [PathStep], asker: Run? = nil
    ) -> ResolutionError {
        let belonging =
            if let lifetime {
                "which is \(lifetime) in \(place.displayName) and can be reset earlier."
            } else if home === place {
                "which is created once per scope and here belongs to \(place.displayName)."
            } else {
                "which belongs to \(place.displayName) and is disposed earlier."
            }
        let isScoped = lifetime == nil && holder.lifetime.sharing == .resolvingContainer
        let kind = lifetime.map { "\($0) too" } ?? ".scoped"
        let remedy = isScoped ? "resolve \(holder.key) in that scope" : "register \(holder.key) as \(kind)"
        var service = typeExpression(key.service)
        // Contributions are requested together.
        if case .contribution = key.role { service = "[\(service)]" }
        return ResolutionError(
            .captiveDependency,
            "\(holder.key) is \(holder.lifetime) in \(home.displayName) and would hold \(key), " + belonging,
            advice: "Give \(holder.key) a Provider<\(service)> to call at each use, "
                + "\(remedy), or pass the instance as an argument of the call.",
            steps: steps, asker: asker)
    }

    /// The error for a request in a body, outside every factory, whose creation waits for the end of that body.
    static func circularInBody(_ target: PathStep, _ runs: [Run]) -> ResolutionError {
        ResolutionError(
            .circularDependency,
            "\(target.key) was requested in a body of withScope or withInstance, and its creation waits for that body.",
            advice: "Request it outside the body, or drain and reset what the body uses after the body.",
            steps: runs.flatMap(\.pathInCreation).upToFirstRepetition, asker: nil)
    }

    /// The error for a value that each scope is expected to supply, in a place where none has.
    static func unsupplied(
        _ key: ServiceKey, in host: any ResolutionHost, steps: [PathStep], asker: Run?
    ) -> ResolutionError {
        // The same text as that of a validation: another scope would not help.
        let holder = asker?.holder.flatMap { holder in
            holder.home === host && holder.binding.lifetime.sharing == .registeringContainer ? holder.binding : nil
        }
        if let holder, !host.isScope {
            return .unsupplied(key, heldBy: holder, in: host, steps: steps, asker: asker)
        }
        let registration = "Registration(\(metatypeExpression(key.service))\(key.qualifierArgument), instance: …)"
        let near = host.isScope ? host.suppliedKeys(near: key).map(\.description) : []
        let advice =
            if let other = host.isScope ? host.supplierAround(of: key) : nil {
                "\(other.displayName) supplies it, but this scope was not opened in that one: call withScope there."
            } else if near.isEmpty {
                "Register it when the scope is opened: withScope(key, registrations: { "
                    + "\(key.qualifier == nil ? "Registration(instance: …)" : registration) })."
            } else {
                "It has \(near.joined(separator: ", ")): supply the value under the expected key, \(registration)."
            }
        let remedyInside = holder.map {
            " If a scope inside supplies it: \($0.key) is \($0.lifetime) here, so register it as .scoped."
        }
        var error = ResolutionError(
            .notRegistered, "\(key) is expected from each scope, but \(host.displayName) did not supply it.",
            advice: advice + (remedyInside ?? ""), steps: steps, asker: asker)
        error.unsuppliedIn = host.number
        return error
    }

    /// The error for an instance that lives above the scopes, and needs a value that each scope supplies.
    static func unsupplied(
        _ key: ServiceKey, heldBy holder: Binding, in host: any ResolutionHost, steps: [PathStep], asker: Run? = nil
    ) -> ResolutionError {
        ResolutionError(
            .notRegistered,
            "\(key) is expected to be supplied by each scope, but \(holder.key) is \(holder.lifetime) and created in "
                + "\(host.displayName).",
            advice:
                "Register \(holder.key) as .scoped, give it a Provider<\(typeExpression(key.service))> to call at "
                + "each use, or pass the value as an argument of the call.",
            steps: steps, asker: asker)
    }

    /// The error for services that depend on each other; the path ends where it began.
    ///
    /// - Parameters:
    ///   - steps: The path.
    ///   - runs: The runs that the request would wait for.
    ///   - asker: The run that makes the request.
    /// - Returns: The error.
    static func circular(_ steps: [PathStep], through runs: [Run] = [], asker: Run? = nil) -> ResolutionError {
        // The path may begin outside the cycle. A transient service has no instance that the cycle could come back to.
        let cycle = steps.suffix(from: steps.dropLast().firstIndex { $0.isSame(as: steps[steps.count - 1]) } ?? 0)
        let shared = cycle.filter { $0.binding?.lifetime.sharing != Lifetime.Sharing.none }
        var advice =
            if cycle.contains(where: { $0.binding?.loadsModules == true }) {
                "Break the cycle: let loaded of a module request nothing that waits for its own end."
            } else if let hook = asker?.disposedKey ?? runs.lazy.compactMap(\.disposedKey).first {
                "Break the cycle: let onDispose of \(hook) request nothing that waits for its own end."
            } else if let first = shared.first {
                "Break the cycle: set \(shared.count == cycle.count ? "one dependency" : "the dependency of \(first.key)") in "
                    + ".injectProperties, or resolve it at its use, through a Lazy or a Provider."
            } else {
                "Break the cycle: resolve one dependency at its use, through a Lazy or a Provider."
            }
        // A service that requests itself may be meant to wrap the one above.
        if cycle.count == 2, asker?.host.parentHost != nil {
            advice += " To wrap a registration of an outer container, decorate it."
        }
        return ResolutionError(
            .circularDependency, ResolutionError.cycleMessage, advice: advice, steps: steps, asker: asker)
    }
}
