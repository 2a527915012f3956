extension Container {
    /// The arguments for which this container holds an instance; for a `keyedBy:` registration, its keys.
    ///
    /// The instances in a storage of your own are not among them: the storage holds those.
    ///
    /// A separate overload because the compiler treats a pack of one as a tuple of one, which is not `Hashable`.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - type: The type of the argument, or of the key.
    /// - Returns: The arguments, in no particular order.
    public func cachedArguments<Service, Argument: Hashable & Sendable>(
        of service: Service.Type, qualifier: (any Qualifier)? = nil, _ type: Argument.Type
    ) -> [Argument] {
        core.cachedArguments(of: Service.self, qualifier: qualifier).compactMap { key in
            (key.value?.base as? Arguments<Argument>)?.values ?? key.computed(as: Argument.self)
        }
    }

    /// The arguments for which this container holds an instance, in no particular order; for a `keyedBy:` registration,
    /// its keys.
    ///
    /// The instances in a storage of your own are not among them: the storage holds those.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - types: The types of the arguments, or the type of the key.
    /// - Returns: One tuple for each instance.
    public func cachedArguments<Service, each Argument: Hashable & Sendable>(
        of service: Service.Type, qualifier: (any Qualifier)? = nil, _ types: repeat (each Argument).Type
    ) -> [(repeat each Argument)] {
        core.cachedArguments(of: Service.self, qualifier: qualifier).compactMap { key in
            (key.value?.base as? Arguments<repeat each Argument>)?.values ?? key.computed as? (repeat each Argument)
        }
    }
}

extension ContainerCore {
    /// The erased ``Arguments`` of each cached instance, or the keys that `keyedBy:` computed from them.
    fileprivate func cachedArguments(of service: any Any.Type, qualifier: (any Qualifier)?) -> [ArgumentKey] {
        // A request for a forwarded type means the service behind it.
        let targets = registeredKeys(of: service, qualifier: qualifier)
        let keys: [ArgumentKey] = withState { state in
            let entries = state.instances.all { binding in
                targets.contains(binding.key)
                    || binding.key.service == service && areEqual(binding.key.qualifier, qualifier)
            }
            return entries.compactMap { kept -> ArgumentKey? in
                let key = kept.argumentKey
                guard !key.isNone, let cell = kept.cell else { return nil }
                if cell.isHeldWeakly {
                    guard let living = cell.strengthened() else { return nil }
                    // Reading has retained the instance, perhaps as the last reference: it is released outside the
                    // lock.
                    state.retired.append(living)
                }
                return key
            }
        }
        // A decorated forwarded type has entries of its own, for arguments that the service behind it has too. Compared
        // outside the lock, because that is user code.
        var seen: Set<ArgumentKey> = []
        return targets.isEmpty ? keys : keys.filter { seen.insert($0).inserted }
    }
}
