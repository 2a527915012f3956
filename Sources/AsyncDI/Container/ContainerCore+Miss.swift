/// Errors that say what is near.
extension ContainerCore {
    func disposedError(_ key: ServiceKey?, asker: Frame?) -> ResolutionError {
        var steps = asker?.path ?? []
        if let key { steps.append(PathStep(key: key, recipe: nil, pack: .none)) }
        let what = key.map { "\($0) was asked of \(displayName), which" } ?? displayName
        return ResolutionError(
            .disposed, "\(what) is disposed.",
            advice: "Finish what uses a container before disposing it, and open a new one for what comes after.",
            steps: steps, asker: asker)
    }

    func mismatch(_ key: ServiceKey, asker: Frame?) -> ResolutionError? {
        let others = searchOrder.flatMap { core in core.withState { $0.registrations.otherArguments(of: key) } }
        guard !others.isEmpty else { return nil }
        let given = key.argumentTypes.isEmpty ? "no arguments" : "(\(key.argumentList))"
        let wanted = others.map { $0.argumentTypes.isEmpty ? "no arguments" : "(\($0.argumentList))" }
        var advice = "Pass the arguments that the factory takes, with exactly these types."
        if key.argumentTypes.count == 1, readableName(of: key.argumentTypes[0]).hasPrefix("(") {
            advice = "The argument given is one tuple: pass its elements one by one, arguments: a, b."
        }
        return ResolutionError(
            .argumentMismatch,
            "\(key.withoutArguments) was asked for with \(given), but is registered with \(wanted.joined(separator: " and ")).",
            advice: advice, steps: (asker?.path ?? []) + [PathStep(key: key, recipe: nil, pack: .none)], asker: asker)
    }

    func miss(_ key: ServiceKey, asker: Frame?) -> ResolutionError {
        if let mismatch = mismatch(key, asker: asker) { return mismatch }
        var advice: [String] = []
        let qualified = searchOrder.flatMap { core in core.withState { $0.registrations.otherQualifiers(of: key) } }
        if !qualified.isEmpty {
            let list = qualified.prefix(5).map { $0.isMaking ? "making: \($0)" : "\($0)" }.joined(separator: ", ")
            let isContributed = qualified.contains {
                if case .contribution = $0.role { true } else { false }
            }
            advice.append("Registered are: \(list).")
            if qualified.contains(where: { $0.isMaking != key.isMaking }) {
                advice.append(
                    key.isMaking ? "Ask for it by resolve(…)." : "What is registered with making: is made by make(…).")
            }
            if isContributed { advice.append("What is one of many is given by resolveMany(…).") }
        }
        let conforming = searchOrder.flatMap { $0.keys(conformingTo: key.service) }
        if !conforming.isEmpty {
            let list = conforming.prefix(5).map(\.description).joined(separator: ", ")
            let name = readableName(of: key.service)
            advice.append(
                conforming.count == 1
                    ? "\(list) conforms: add .implements((any \(name)).self) to its registration."
                    : "\(list) conform: add .implements((any \(name)).self) to the registration of the one that is meant."
            )
        }
        if let place = elsewhere(key) {
            advice.append(
                "It is registered in \(place.displayName): ask that container, or register it where this one looks.")
        }
        if advice.isEmpty {
            advice.append("\(howToRegister(key.service)), or check which container is asked.")
        }
        return ResolutionError(
            .notRegistered, "\(key) is not registered in \(displayName), nor where it looks.",
            advice: advice.joined(separator: " "),
            steps: (asker?.path ?? []) + [PathStep(key: key, recipe: nil, pack: .none)], asker: asker)
    }

    private func howToRegister(_ service: any Any.Type) -> String {
        func metatype<Service>(_: Service.Type) -> String { readableMetatype(of: Service.self) }
        if let element = (service as? any ManyOf.Type)?.element {
            return "Contribute to it: Registration(\(_openExistential(element, do: metatype))) { … }.intoMany()"
        }
        return "Register it: Registration(\(_openExistential(service, do: metatype))) { … }"
    }

    /// The containers that a request of this one looks in.
    var searchOrder: [ContainerCore] {
        [self] + fallbacks.flatMap(\.searchOrder) + (parent?.searchOrder ?? [])
    }

    /// The registered services that are also of the type asked for.
    private func keys(conformingTo service: any Any.Type) -> [ServiceKey] {
        func conforming<Service>(_: Service.Type) -> [ServiceKey] {
            let registered = withState { state in
                state.registrations.inOrder.map {
                    ($0.key, state.instances[CreationKey(withoutArguments: $0)]?.cell)
                }
            }
            return registered.filter { key, cell in
                if key.service == service { return false }
                if let instance = cell?.anyValue, instance is Service { return true }
                return conforms(key.service, to: Service.self)
            }.map(\.0)
        }
        return _openExistential(service, do: conforming)
    }

    /// A child or sibling that has the key.
    private func elsewhere(_ key: ServiceKey) -> ContainerCore? {
        var seen: [ContainerCore] = []
        var next = childCores + (parent?.childCores ?? [])
        while let core = next.popLast(), seen.count < 1000 {
            if core === self || seen.contains(where: { $0 === core }) { continue }
            seen.append(core)
            if core.withState({ _ in core.table.ownRegistration(of: key) != nil }) { return core }
            next += core.childCores
        }
        return nil
    }
}

extension ServiceKey {
    fileprivate var argumentList: String { argumentTypes.map(readableName(of:)).joined(separator: ", ") }
    fileprivate var withoutArguments: ServiceKey { ServiceKey(service, qualifier: qualifier) }
}

/// A type that gathers contributions.
private protocol ManyOf {
    static var element: any Any.Type { get }
}

extension Array: ManyOf {
    fileprivate static var element: any Any.Type { Element.self }
}
