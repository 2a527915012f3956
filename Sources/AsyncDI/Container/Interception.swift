/// The calls of interceptors before and after one factory or hook; the first interceptor is outermost.
struct Interception: Sendable {
    let interceptors: [any ContainerInterceptor]
    let call: InterceptedCall

    /// Runs the factory or hook.
    ///
    /// - Parameters:
    ///   - instance: The instance of the result, for the interceptors.
    ///   - body: The factory or hook.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or of an interceptor in its place.
    nonisolated(nonsending) func run<R>(
        _ instance: (borrowing R) -> (any Sendable)?, _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R {
        // The interceptors whose calls have begun and not ended.
        var entered = 0
        do {
            for interceptor in interceptors {
                entered += 1
                try await interceptor.willRun(call)
            }
            // Unsafe because a `do` cannot express that the result was received as `sending` and that no other code
            // uses it on its way out.
            nonisolated(unsafe) let result = try await body()
            let instance = instance(result)
            for interceptor in interceptors.reversed() {
                try await interceptor.didRun(call, for: instance)
                entered -= 1
            }
            return result
        } catch {
            // Interceptors may keep the error, whose runs keep this container, and with it them.
            let told = ResolutionError.withoutOrigins(error)
            for interceptor in interceptors.prefix(entered).reversed() { interceptor.didFail(call, with: told) }
            throw error
        }
    }
}

extension [any ContainerInterceptor] {
    func didResolve(_ binding: Binding) {
        for interceptor in self { interceptor.didResolveInstance(of: binding.key, at: binding.blueprint.site) }
    }

    func didRefuse(_ key: ServiceKey) {
        for interceptor in self { interceptor.didRefuse(key) }
    }
}

extension Blueprint {
    /// Returns the same registration, with calls of interceptors around its factory and hooks.
    func intercepted(by interceptors: [any ContainerInterceptor], in core: ContainerCore) -> Blueprint {
        if interceptors.isEmpty { return self }
        let (owner, lifetime) = (core.number, lifetime ?? core.defaultLifetime)
        let interception = { [key, site] (kind: InterceptedCall.Kind, index: Int) in
            Interception(
                interceptors: interceptors,
                call: InterceptedCall(kind: kind, key: key, lifetime: lifetime, site: site, index: index, owner: owner))
        }
        var copy = self
        if instance == nil { copy.factory = factory.intercepted(by: interception(.factory, 0)) }
        guard extras != nil else { return copy }
        let wrapped = { (hooks: [InstanceHook], kind: InterceptedCall.Kind) -> [InstanceHook] in
            hooks.enumerated().map { index, hook in
                let interception = interception(kind, index)
                return { resolver, cell, pack in
                    try await interception.run({ _ in cell.undecorated.anyValue }) {
                        try await hook(resolver, cell, pack)
                    }
                }
            }
        }
        if !propertyHooks.isEmpty { copy.propertyHooks = wrapped(propertyHooks, .propertyHook) }
        if !creationHooks.isEmpty { copy.creationHooks = wrapped(creationHooks, .creationHook) }
        if !disposalHooks.isEmpty {
            copy.disposalHooks = disposalHooks.enumerated().map { index, hook in
                let interception = interception(.disposalHook, index)
                return { cell, reason in
                    var call = interception.call
                    call.hasCaller = reason.hasCaller
                    try await Interception(interceptors: interceptors, call: call).run({ _ in
                        cell.undecorated.anyValue
                    }) { try await hook(cell, reason) }
                }
            }
        }
        return copy
    }
}
