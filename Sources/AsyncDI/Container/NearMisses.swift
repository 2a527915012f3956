/// The registrations similar to missing keys, in one container.
///
/// Each look-up happens once, so that the cost of checking ten thousand keys grows with the number of services and not
/// of their pairs. A value is valid at one moment only, and must not be kept.
final class NearMisses {
    /// The registrations of one service in every searched container, with any other parts of their keys.
    private struct Keys {
        var all: [ServiceKey] = []
        /// By all parts except the arguments.
        var named: [ServiceKey: [ServiceKey]] = [:]
        var hasMaking = false
        var hasOthers = false
        var hasContributions = false
    }

    /// A registration whose service, or instance, is also of the requested type.
    private struct Conforming {
        let key: ServiceKey
        /// The type of the instance, where the service alone does not conform.
        let instance: (any Any.Type)?

        var subject: String { instance.map { "\(key) (whose instance is a \(readableName(of: $0)))" } ?? "\(key)" }
    }

    private let core: ContainerCore
    private var keys: [ObjectIdentifier: Keys] = [:]
    private var descriptions: [ObjectIdentifier: (each: [String], list: String)] = [:]
    private var conforming: [ObjectIdentifier: [Conforming]] = [:]
    private lazy var containersElsewhere = self.findContainersElsewhere()
    /// The functions registered as instances: the compiler takes a factory with an attribute for one, if no service is
    /// named.
    private lazy var closures = core.searchOrder.flatMap { core in
        core.withState { $0.registrations.inOrder.filter { $0.blueprint.instance != nil } }
            .filter { "\($0.key.service)".contains(" -> ") }
    }

    init(in core: ContainerCore) { self.core = core }

    // MARK: Errors

    func mismatch(_ key: ServiceKey, asker: Run?) -> ResolutionError? {
        ResolutionError.mismatch(key, registeredAs: otherArguments(of: key), asker: asker)
    }

    func miss(_ key: ServiceKey, asker: Run?) -> ResolutionError {
        if let mismatch = mismatch(key, asker: asker) { return mismatch }
        var advice =
            namesakes(of: key)
            + [closure(returning: key), optional(of: key), closedContainer(), conforming(to: key), elsewhere(key)]
            .compactMap(\.self)
        if key.service == Container.self {
            advice.append(
                "Request a Resolver in its place: a container that is registered in itself holds itself, and is never freed."
            )
        }
        if advice.isEmpty {
            advice.append("\(howToRegister(key)), or check which container you resolve from.")
        }
        return ResolutionError(
            .notRegistered, "\(key) is not registered in \(core.displayName) or in any container it searches.",
            advice: advice.joined(separator: " "),
            steps: (asker?.path ?? []) + [PathStep(key: key)], asker: asker)
    }

    // MARK: Advice

    /// Registrations of the service under other names: the same name would be a mismatch.
    private func namesakes(of key: ServiceKey) -> [String] {
        let near = keys(of: key.service)
        if near.all.isEmpty { return [] }
        let described = describe(near.all, of: key.service)
        var advice = ["Registered: \(described.list)."]
        if key.isMaking ? near.hasOthers : near.hasMaking {
            advice.append(key.isMaking ? "Use resolve(…) for it." : "Use make(…) for a registration with making:.")
        }
        if near.hasContributions { advice.append("Use resolveMany(…) for contributions.") }
        if let id = key.contribution(keyedBy: nil), let types = keyTypes(ofContributionsTo: key, except: id.keyType) {
            advice.append("The requested key is of the type \(id.keyType), and there are keys of \(types).")
        }
        if let twin = described.each.firstIndex(of: "\(key)"), let other = near.all[twin].qualifier,
            let own = key.qualifier
        {
            let names = [other, own].map { qualifiedName(of: type(of: $0)) }
            advice.append(
                type(of: other) == type(of: own)
                    ? "Its qualifier has the same description, but is not equal to the requested one."
                    : names[0] == names[1]
                        ? "Its qualifier is of another type that is also called \(names[0])."
                        : "Its qualifier is of the type \(names[0]), and the requested one of \(names[1]).")
        }
        return advice
    }

    /// The descriptions of the first hundred registrations of a service, and a list of the first few.
    private func describe(_ all: [ServiceKey], of service: any Any.Type) -> (each: [String], list: String) {
        if let known = descriptions[ObjectIdentifier(service)] { return known }
        let described = (
            all.prefix(100).map(\.description), all.listed { $0.isMaking ? "making: \($0)" : "\($0)" }
        )
        descriptions[ObjectIdentifier(service)] = described
        return described
    }

    private func closure(returning key: ServiceKey) -> String? {
        let result = "-> \(readableName(of: key.service))"
        guard let closure = closures.first(where: { readableName(of: $0.key.service).hasSuffix(result) }) else {
            return nil
        }
        return "The closure \(closure.step) is registered as an instance: to register its result, name the service, "
            + "\(key.registration)."
    }

    /// A registration of the service's optional type, or of the type that a requested optional wraps.
    private func optional(of key: ServiceKey) -> String? {
        if case .optional(let wrapped)? = (key.service as? any WrapperType.Type)?.need {
            // Only `make` gets here: any other request for an optional is one for what it wraps.
            guard key.isMaking, keys(of: wrapped).hasMaking else { return nil }
            return "\(readableName(of: wrapped)) is registered: name the type, make(\(metatypeExpression(wrapped)))."
        }
        let optional = optionalType(of: key.service)
        guard !keys(of: optional).all.isEmpty else { return nil }
        return "Registered as an optional type: \(describe(keys(of: optional).all, of: optional).list). "
            + "Request that type, or register a value that is not optional."
    }

    private func closedContainer() -> String? {
        core.searchOrder.first { $0 !== core && $0.table.isClosed }.map {
            "A request also searches \($0.displayName), which is disposed and answers no more."
        }
    }

    private func conforming(to key: ServiceKey) -> String? {
        // A forward takes over the arguments, and is for `resolve` alone.
        let conforming = registrations(conformingTo: key.service).filter {
            !key.isMaking && !$0.key.isMaking && $0.key.arguments == key.arguments
        }
        if conforming.isEmpty { return nil }
        let list = conforming.listed(\.subject)
        // A forward takes over the qualifier unless it names one.
        let isNamedAlike = conforming.allSatisfy { ServiceName($0.key.of(key.service)) == ServiceName(key) }
        let qualifier =
            isNamedAlike ? "" : key.qualifierArgument.isEmpty ? ", qualifier: nil" : key.qualifierArgument
        let modifier = ".implements(\(metatypeExpression(key.service))\(qualifier))"
        return conforming.count == 1
            ? "\(list) conforms: add \(modifier) to its registration."
            : "\(list) conform: add \(modifier) to the registration of the one you mean."
    }

    private func elsewhere(_ key: ServiceKey) -> String? {
        let place = containersElsewhere.first { core in
            core.withState { _ in core.table.ownRegistration(of: key) != nil }
        }
        return place.map {
            "It is registered in \($0.displayName): resolve it from there, or register it in a container that this one "
                + "searches."
        }
    }

    private func howToRegister(_ key: ServiceKey) -> String {
        if case .contributions(let element, let type)? = (key.service as? any WrapperType.Type)?.need {
            if case .later(let service, let isHeld)? = (element as? any WrapperType.Type)?.need {
                let (wrapper, key) = (isHeld ? "Lazy" : "Provider", type.map { "\(readableName(of: $0)): " } ?? "")
                return
                    "Contributions are requested together: request a \(wrapper)<[\(key)\(readableName(of: service))]>"
            }
            let registration = key.of(element).registration
            guard let type else { return "Contribute to it: \(registration).intoMany()" }
            let others = keyTypes(ofContributionsTo: key.of(element), except: String(reflecting: type))
            return (others.map { "Its contributions have keys of \($0). " } ?? "")
                + "Contribute to it, with a key of type \(readableName(of: type)): \(registration).intoMany(key: …)"
        }
        return "Register it: \(key.registration)"
    }

    // MARK: Similar registrations

    /// The values that the container itself has under another type, to which the key's service may apply, or under
    /// another qualifier.
    func suppliedKeys(near key: ServiceKey) -> [ServiceKey] {
        let own = Set(core.withState { $0.registrations.inOrder.filter { !$0.blueprint.isExpected }.map(\.key) })
        // A key is listed once for each container that has it.
        var seen: Set<ServiceKey> = []
        let near = keys(of: key.service).all + keys(of: optionalType(of: key.service)).all
        return near.filter { $0 != key && own.contains($0) && seen.insert($0).inserted }
            + registrations(conformingTo: key.service).map(\.key).filter(own.contains)
    }

    /// The registered keys of the same service and qualifier with other argument types.
    func otherArguments(of key: ServiceKey) -> [ServiceKey] {
        (keys(of: key.service).named[key.withoutArguments] ?? []).filter { $0 != key }
    }

    /// The types of the keys of contributions to a service, as a list; nil if one key is of the given type, or without
    /// any key.
    private func keyTypes(ofContributionsTo key: ServiceKey, except type: String) -> String? {
        let name = ServiceName(key)
        let types = keys(of: key.service).all.filter { ServiceName($0) == name }
            .compactMap { $0.contribution(keyedBy: nil) }.filter(\.isKeyed).map(\.keyType)
        return types.isEmpty || types.contains(type) ? nil : Set(types).sorted().joined(separator: ", ")
    }

    private func keys(of service: any Any.Type) -> Keys {
        if let known = keys[ObjectIdentifier(service)] { return known }
        var found = Keys()
        for core in core.searchOrder {
            for key in core.withState({ $0.registrations.keys(of: service) }) {
                found.all.append(key)
                found.named[key.withoutArguments, default: []].append(key)
                if key.isMaking { found.hasMaking = true } else { found.hasOthers = true }
                if case .contribution = key.role { found.hasContributions = true }
            }
        }
        keys[ObjectIdentifier(service)] = found
        return found
    }

    /// The registered services that also conform to the requested type, or inherit from it.
    private func registrations(conformingTo service: any Any.Type) -> [Conforming] {
        if let known = conforming[ObjectIdentifier(service)] { return known }
        func find<Service>(_: Service.Type) -> [Conforming] {
            // Structs and enumerations have no subtypes.
            guard isExistential(Service.self) || Service.self is AnyClass else { return [] }
            return core.searchOrder.flatMap { core in
                core.withState { state in
                    state.registrations.inOrder.map {
                        ($0.key, state.instances[CreationKey(withoutArguments: $0)]?.cell ?? $0.blueprint.instance)
                    }
                }
                .compactMap { key, cell in
                    if key.service == service { return nil }
                    if conforms(key.service, to: Service.self) { return Conforming(key: key, instance: nil) }
                    guard let instance = cell?.anyValue, instance is Service else { return nil }
                    return Conforming(key: key, instance: type(of: instance))
                }
            }
        }
        let found = find(service)
        conforming[ObjectIdentifier(service)] = found
        return found
    }

    /// Children and siblings, and the containers below them.
    private func findContainersElsewhere() -> [ContainerCore] {
        var found: [ContainerCore] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(core)]
        // A message need not know of thousands of scopes.
        let limit = 100
        var next = core.childCores(atMost: limit) + (core.parent?.childCores(atMost: limit) ?? [])
        while let core = next.popLast(), found.count < limit {
            guard seen.insert(ObjectIdentifier(core)).inserted else { continue }
            found.append(core)
            next += core.childCores(atMost: limit)
        }
        return found
    }
}

extension Array {
    /// The first five names, and the number of the other elements.
    fileprivate func listed(_ text: (Element) -> String) -> String {
        var texts: [String] = []
        var seen = 0
        // Contributions may have the same name. Not all are described: there may be thousands.
        for element in prefix(100) where texts.count < 5 {
            seen += 1
            let text = text(element)
            if !texts.contains(text) { texts.append(text) }
        }
        return texts.joined(separator: ", ") + (count > seen ? " and \(count - seen) more" : "")
    }
}

private func optionalType<Service>(of service: Service.Type) -> any Any.Type { Service?.self }

/// Whether a type is a tuple with elements: `(Int, String)`, but neither `()` nor `(any P & Q)?`.
private func isTuple(_ type: any Any.Type) -> Bool {
    let name = readableName(of: type)
    return name.hasPrefix("(") && name.hasSuffix(")") && name != "()"
}

extension ServiceKey {
    fileprivate var argumentList: String { argumentTypes.map(readableName(of:)).joined(separator: ", ") }
}

extension ResolutionError {
    /// The error for a service that is registered only with other arguments; nil without such registrations.
    static func mismatch(
        _ key: ServiceKey, registeredAs others: [ServiceKey], asker: Run?
    ) -> ResolutionError? {
        guard !others.isEmpty else { return nil }
        let given = key.argumentTypes.isEmpty ? "no arguments" : "(\(key.argumentList))"
        let wanted = others.map { $0.argumentTypes.isEmpty ? "no arguments" : "(\($0.argumentList))" }
        var advice = "Pass the arguments that the factory takes, with exactly these types."
        if key.argumentTypes.isEmpty, asker?.binding.blueprint.dependencies?.contains(key) == true {
            advice = "Give the parameter a source in with:, or register a factory that passes the arguments."
        }
        if key.argumentTypes.count == 1, isTuple(key.argumentTypes[0]) {
            advice = "The argument given is one tuple: pass its elements one by one, arguments: a, b."
        }
        let plain = ServiceKey(key.service, qualifier: key.qualifier)
        return ResolutionError(
            .argumentMismatch,
            "\(plain) was requested with \(given), but is registered with \(wanted.joined(separator: " and ")).",
            advice: advice, steps: (asker?.path ?? []) + [PathStep(key: key)], asker: asker)
    }
}
