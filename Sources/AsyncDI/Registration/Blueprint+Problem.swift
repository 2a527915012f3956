extension Blueprint {
    /// The first contradiction in the registration, if it has one.
    func problem(defaultLifetime: Lifetime) -> ResolutionError? {
        let lifetime = lifetime ?? defaultLifetime
        if let problem = lifetime.bounds.problem {
            return invalid(
                "\(key) is \(lifetime), but \(problem).",
                "Check the value that is passed to .multiton(capacity:idle:weak:).")
        }
        if isSimple { return nil }
        return problemOfType ?? problemOfExpectation ?? problemOfDisposal(lifetime) ?? problemOfParameters(lifetime)
            ?? problemOfHooks(lifetime) ?? problemOfContribution ?? problemOfStart(lifetime) ?? problemOfForwards
    }

    /// The compiler checks the factory against the type that it knows.
    private var problemOfType: ResolutionError? {
        guard let givenType else { return nil }
        return invalid(
            "\(key) is registered with the type \(readableName(of: givenType)), which the compiler does not know there.",
            "Write Registration(\(metatypeExpression(givenType))): a type from a variable is registered as what it is declared as."
        )
    }

    /// A value of scopes has no instance in the container that expects it.
    private var problemOfExpectation: ResolutionError? {
        if isExpected, isEager {
            return invalid(
                "\(key) is expected to be supplied by each scope, and eager, but start() opens no scope.",
                "Remove .eager().")
        }
        if isExpected, !propertyHooks.isEmpty || !creationHooks.isEmpty || !disposalHooks.isEmpty {
            let hook = propertyHooks.isEmpty && creationHooks.isEmpty ? "an onDispose" : "a creation"
            return invalid(
                "\(key) is expected to be supplied by each scope, and has \(hook) hook, which needs an instance.",
                "Move the hook to the registration that supplies it.")
        }
        return nil
    }

    /// Only an owned instance is disposed.
    private func problemOfDisposal(_ lifetime: Lifetime) -> ResolutionError? {
        if key.isMaking, !disposalHooks.isEmpty || healthCheck != nil {
            return invalid(
                "\(key) is registered with making: and has \(disposalHooks.isEmpty ? "a health check" : "an onDispose hook"), but "
                    + "each instance belongs to the caller of make.",
                "Remove it, and let the caller check and close the instance.")
        }
        if !disposalHooks.isEmpty, !lifetime.ownsInstances {
            let kind = lifetime.bounds.isWeak ? "\(lifetime) with weak: true" : "\(lifetime)"
            return invalid(
                "\(key) is \(kind) and has an onDispose hook, but no container owns the end of its instances.",
                "Use a lifetime whose instances the container owns (.singleton, .scoped, .multiton), or close them yourself."
            )
        }
        return nil
    }

    /// The key, the sources and the leases of the factory's parameters.
    private func problemOfParameters(_ lifetime: Lifetime) -> ResolutionError? {
        if key.arguments == nil, keying?.isComputed == true {
            return invalid(
                "the keyedBy: of \(key) has no parameters, but computes a key from arguments.",
                "Pass the value as an argument of each request, or resolve it in the factory of a .scoped service.")
        }
        if let count = parametersOfOneSource {
            return invalid(
                "the initializer of \(key) has \(count) parameters, but with: has 1 source.",
                "Give each parameter a source, in order: with: .resolved, .qualified(…).")
        }
        if let leased = leasedDependencies.first(where: { !isLeasable($0.service) }) {
            return invalid(
                "\(key) leases \(leased), which holds no instance.",
                "Use .resolved in place of .leased, and withInstance where the service is used.")
        }
        if let leased = leasedDependencies.last, !lifetime.ownsInstances {
            return invalid(
                "\(key) is \(lifetime) and leases \(leased), but no container owns the end of its instances.",
                "Use a lifetime whose instances the container owns (.singleton, .scoped, .multiton), or .resolved in place of .leased."
            )
        }
        return nil
    }

    /// Hooks and checks need an instance that a container creates or keeps.
    private func problemOfHooks(_ lifetime: Lifetime) -> ResolutionError? {
        if healthCheck != nil, instance == nil, lifetime.kind == .transient || lifetime.kind == .graph {
            return invalid(
                "\(key) is \(lifetime) and has a health check, but no container keeps an instance of it.",
                "Use a lifetime that keeps its instances (.singleton, .scoped, .multiton), or check the service elsewhere."
            )
        }
        if key.isMaking || instance != nil, !propertyHooks.isEmpty || !creationHooks.isEmpty {
            return invalid(
                "\(key) has creation hooks, but no container creates its instances.",
                "Move the hook's work to the code that creates the instance.")
        }
        if key.isMaking, !forwards.isEmpty || isEager {
            return invalid(
                "\(key) is registered with making:, and cannot be resolved.",
                "Remove .implements and .eager(); register another type with a making: of its own.")
        }
        if let wrong = hookArguments.first(where: { $0 != key.arguments }) {
            let types = wrong.types.map(readableName(of:)).joined(separator: ", ")
            return invalid(
                "\(key) has a hook that takes the arguments (\(types)), which are not those of its factory.",
                "Let the hook take the factory's arguments with exactly their types, or none.")
        }
        return nil
    }

    /// `resolveMany` passes no arguments.
    private var problemOfContribution: ResolutionError? {
        if key.isContribution, factory.onlyMakes {
            return invalid(
                "\(key) is a contribution, but is registered with making:, and cannot be resolved.",
                "Remove .intoMany(), or contribute a registration with a factory.")
        }
        if key.isContribution, key.arguments != nil {
            return invalid(
                "\(key) is a contribution, but takes arguments, which resolveMany cannot pass.",
                "Contribute a factory of such instances instead, or remove .intoMany().")
        }
        return nil
    }

    /// `start()` passes no arguments, and creates only instances that are kept.
    private func problemOfStart(_ lifetime: Lifetime) -> ResolutionError? {
        if isEager, key.arguments != nil {
            return invalid(
                "\(key) is eager, but takes arguments, which start() cannot pass.",
                "Remove .eager(), and resolve it with its arguments after start().")
        }
        if isEager, !lifetime.ownsInstances {
            return invalid(
                "\(key) is \(lifetime) and eager, but no container keeps an instance that start() could create.",
                "Use a lifetime that keeps its instances (.singleton, .scoped), or remove .eager().")
        }
        return nil
    }

    /// A service cannot implement itself.
    private var problemOfForwards: ResolutionError? {
        if let forward = forwards.first(where: { $0.to == key }) {
            return invalid(
                "\(key) is registered to implement itself.",
                "Remove .implements(\(metatypeExpression(forward.to.service))).")
        }
        return nil
    }

    /// Whether the registration has neither options that could contradict one another nor forwarding, as most do.
    var isSimple: Bool { extras == nil && !key.isContribution }

    private func invalid(_ message: String, _ advice: String) -> ResolutionError {
        ResolutionError(
            .invalidRegistration, message, advice: advice,
            steps: [PathStep(key: key, site: site)])
    }
}
