/// The target of a reset.
enum ResetTarget {
    case everything
    case lifetime(Lifetime)
    case service(any Any.Type, (any Qualifier)?)
    case arguments(ServiceKey, ArgumentPack)
}

/// The instances that a reset concerns.
enum ResetSelection {
    /// The instances under these keys, which are found without a search of the cache.
    case keys([CreationKey])
    /// Every instance of the registrations for which the condition holds.
    case instances(of: (Binding) -> Bool)

    /// The instances that wrap the selected ones of some registrations, for these decorations of inherited services.
    func wrapped(by wrappers: [Binding], of bindings: Set<ObjectIdentifier>) -> ResetSelection {
        switch self {
        case .keys(let keys):
            let inner = keys.filter { bindings.contains(ObjectIdentifier($0.binding)) }
            return .keys(
                wrappers.flatMap { wrapper in
                    inner.filter { key in wrapper.wraps { $0 === key.binding } }.map {
                        CreationKey(wrapper, $0.arguments)
                    }
                })
        case .instances(let isSelected):
            let selected = wrappers.filter { wrapper in
                wrapper.wraps { bindings.contains(ObjectIdentifier($0)) && isSelected($0) }
            }
            return .instances { binding in selected.contains { $0 === binding } }
        }
    }
}

extension Binding {
    /// Whether this decorates an inherited registration for which the condition holds, or a decoration of it.
    fileprivate func wraps(_ isMeant: (Binding) -> Bool) -> Bool {
        var base = base
        while case .inherited(let inner)? = base {
            if isMeant(inner) { return true }
            base = inner.base
        }
        return false
    }
}

extension ContainerCore {
    func selection(_ target: ResetTarget) -> ResetSelection {
        switch target {
        case .everything:
            return .instances { _ in true }
        case .lifetime(let lifetime):
            return .instances { $0.lifetime == lifetime }
        case .service(let service, let qualifier):
            // A request for a forwarded type means the service behind it.
            let targets = registeredKeys(of: service, qualifier: qualifier)
            let name = ServiceName(ServiceKey(service, qualifier: qualifier))
            return .instances { binding in
                targets.contains(binding.key) || ServiceName(binding.key) == name
                    || binding.innermostForwardedKey.map { ServiceName($0) == name } == true
            }
        case .arguments(let key, let pack):
            guard let (found, owner) = table.registration(of: key) else { return .keys([]) }
            // The instance behind a forwarded type belongs to that type's own container, even if another container
            // overrides it.
            let target = found.forwardedKey.flatMap { owner.registration(of: $0)?.binding } ?? found
            let affected = CreationKey(target, pack)
            let holders = searchOrder.flatMap { core in core.withState { $0.decoratedForwards(of: target.key) } }
            var seen: Set<ObjectIdentifier> = []
            return .keys(
                ([target] + holders).filter { seen.insert(ObjectIdentifier($0)).inserted }
                    .map { CreationKey($0, affected.arguments) })
        }
    }

    /// The keys of the services that are forwarded to a type.
    func registeredKeys(of service: any Any.Type, qualifier: (any Qualifier)?) -> Set<ServiceKey> {
        let name = ServiceName(ServiceKey(service, qualifier: qualifier))
        var targets: Set<ServiceKey> = []
        for core in searchOrder {
            core.withState { state in
                for binding in state.registrations.records(named: name) {
                    if let from = binding.forwardedKey { targets.insert(from) }
                }
            }
        }
        return targets
    }
}

extension ContainerCore.State {
    /// The decorated forwarded types that hold the instance behind them: of this container, and inherited ones.
    fileprivate mutating func decoratedForwards(of key: ServiceKey) -> [Binding] {
        let own = isDecorated || hasDecorators ? registrations.records(forwardingTo: key) : []
        var inherited: [Binding] = []
        for decorated in self.decorations.inOrder {
            inherited += registrations.records(named: decorated.name).filter {
                $0.base?.isInherited == true && $0.innermostForwardedKey == key
            }
        }
        return own + inherited
    }
}
