/// One registration with its arguments, in the path of a request.
struct PathStep: Sendable {
    let key: ServiceKey
    /// The registration, by identity; nil without one.
    let binding: Binding?
    let pack: ArgumentPack
    /// The source location of the registration, if it is registered.
    let site: RegistrationSite?

    init(key: ServiceKey, binding: Binding? = nil, pack: ArgumentPack = .none, site: RegistrationSite? = nil) {
        self.key = key
        self.binding = binding
        self.pack = pack
        self.site = site ?? binding?.blueprint.site
    }

    /// Of the registration and the arguments; the key follows from the registration.
    fileprivate var repetitionHash: Int {
        var hasher = Hasher()
        if let binding { hasher.combine(ObjectIdentifier(binding)) } else { hasher.combine(key) }
        hasher.combine(pack.identityHash)
        return hasher.finalize()
    }

    /// Whether both are the same registration with arguments that are not known to differ.
    func isSame(as other: PathStep) -> Bool {
        binding === other.binding && key == other.key && pack.likeness(to: other.pack) != .different
    }
}

extension PathStep: CustomStringConvertible {
    /// The service and where it is registered: `Owner (App/Modules.swift:12)`.
    var description: String { site.map { "\(key) (\($0))" } ?? key.description }
}

extension [PathStep] {
    /// The path up to the first step that was there before: where a cycle is complete.
    ///
    /// Compares only steps that have the same hash.
    var upToFirstRepetition: [PathStep] {
        var seen: [Int: [Int]] = [:]
        seen.reserveCapacity(count)
        for (index, step) in enumerated() {
            let hash = step.repetitionHash
            if let earlier = seen[hash], earlier.contains(where: { step.isSame(as: self[$0]) }) {
                return Array(self[...index])
            }
            seen[hash, default: []].append(index)
        }
        return self
    }
}
