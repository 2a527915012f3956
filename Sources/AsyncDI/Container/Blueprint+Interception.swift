extension Blueprint {
    /// Returns the same registration, with calls of interceptors around its factory and hooks.
    func intercepted(by interceptors: [any ContainerInterceptor], in core: ContainerCore) -> Blueprint {
        if interceptors.isEmpty { return self }
        let (owner, lifetime, isOfInstance) = (core.number, lifetime ?? core.defaultLifetime, instance != nil)
        let call = { [key, site] (kind: InterceptedCall.Kind, index: Int) in
            InterceptedCall(
                kind: kind, key: key, lifetime: lifetime, site: site, index: index, owner: owner,
                isOfInstance: isOfInstance)
        }
        var copy = self
        if !isOfInstance {
            copy.factory = factory.intercepted(by: Interception(of: call(.factory, 0), by: interceptors))
        }
        guard extras != nil else { return copy }
        let wrapped = { (hooks: [InstanceHook], kind: InterceptedCall.Kind) -> [InstanceHook] in
            hooks.enumerated().map { index, hook in
                let interception = Interception(of: call(kind, index), by: interceptors)
                return { resolver, cell, pack in
                    try await interception.run({ _ in cell.undecorated.anyValue }) {
                        try await hook(resolver, cell, pack)
                    }
                }
            }
        }
        copy.change { extras in
            extras.propertyHooks = wrapped(propertyHooks, .propertyHook)
            extras.creationHooks = wrapped(creationHooks, .creationHook)
            extras.disposalHooks = disposalHooks.enumerated().map { index, hook in
                let call = call(.disposalHook, index)
                return { cell, reason in
                    var call = call
                    call.hasCaller = reason.hasCaller
                    try await Interception(of: call, by: interceptors).run({ _ in cell.undecorated.anyValue }) {
                        try await hook(cell, reason)
                    }
                }
            }
        }
        return copy
    }
}

extension Interception {
    fileprivate init(of call: InterceptedCall, by interceptors: [any ContainerInterceptor]) {
        calls = interceptors.map { interceptor in
            Calls(
                willRun: { try await interceptor.willRun(call) },
                didRun: { try await interceptor.didRun(call, for: $0) },
                didFail: { interceptor.didFail(call, with: $0) })
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

    func didRefuseScope(named name: String) {
        for interceptor in self { interceptor.didRefuseScope(named: name) }
    }
}
