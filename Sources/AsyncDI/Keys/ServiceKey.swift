/// Identifies a registration: the service type, an optional qualifier and the types of its arguments.
///
/// Keys appear in the ``ResolutionError/path`` of an error and in ``ContainerEvent``s. Their description reads like
/// the request: `TenantPool(String)`, `URL[prod]`.
public struct ServiceKey: Hashable, Sendable, CustomStringConvertible {
    /// The service type: a concrete type or `any P`.
    public let service: any Any.Type
    /// The type of the argument pack's box, nil without arguments.
    let arguments: ArgumentPack.Type?
    /// The qualifier and the role, nil for most keys, which take three words.
    let details: KeyDetails?

    enum Role: Hashable, Sendable {
        case service
        /// Created by `make`, not resolved.
        case making
        /// One contribution of a multibinding.
        indirect case contribution(ContributionID)
    }

    init(
        _ service: any Any.Type, qualifier: (any Qualifier)? = nil, arguments: ArgumentPack.Type? = nil,
        role: Role = .service
    ) {
        self.service = service
        self.arguments = arguments
        details = KeyDetails.of(qualifier, role)
    }

    /// The key of a request with these arguments.
    init(_ service: any Any.Type, qualifier: (any Qualifier)?, with pack: ArgumentPack, role: Role = .service) {
        self.service = service
        arguments = pack === ArgumentPack.none ? nil : type(of: pack)
        details = KeyDetails.of(qualifier, role)
    }

    init(_ service: any Any.Type, _ details: KeyDetails?) {
        self.service = service
        self.details = details
        arguments = nil
    }

    /// The qualifier, if the registration has one.
    public var qualifier: (any Qualifier)? { details?.qualifier }

    /// The kind of the registration: each kind has keys of its own.
    var role: Role { details?.role ?? .service }

    /// Whether this is a `making:` registration.
    var isMaking: Bool {
        if case .making? = details?.role { true } else { false }
    }

    /// Whether this is a contribution.
    var isContribution: Bool {
        if case .contribution? = details?.role { true } else { false }
    }

    /// The identity of a contribution with a key of this type, or of any contribution when nil; else nil.
    func contribution(keyedBy type: (any Any.Type)?) -> ContributionID? {
        guard case .contribution(let id) = role else { return nil }
        if let type, !id.hasKey(of: type) { return nil }
        return id
    }

    /// The same key for another kind of registration.
    func with(_ role: Role) -> ServiceKey {
        ServiceKey(service, qualifier: qualifier, arguments: arguments, role: role)
    }

    /// The same key without arguments.
    var withoutArguments: ServiceKey { ServiceKey(service, details) }

    /// The types of the arguments, in order.
    public var argumentTypes: [any Any.Type] { arguments?.types ?? [] }

    /// The key as it is requested: `Service[qualifier](Argument, Argument)`.
    public var description: String {
        var text = readableName(of: service)
        if case .contribution(let id) = role { text = "[\(text)]\(id)" }
        if let qualifier { text += "[\(singleLine("\(qualifier)"))]" }
        if let arguments { text += "(" + arguments.types.map(readableName(of:)).joined(separator: ", ") + ")" }
        return text
    }

    /// The key with arguments, as text, in place of their types: `Service[qualifier]("acme")`.
    func description(withArguments text: String) -> String {
        text.isEmpty ? description : "\(withoutArguments)(\(text))"
    }

    /// Whether the two keys name the same registration.
    public static func == (first: ServiceKey, second: ServiceKey) -> Bool {
        guard first.service == second.service, first.arguments == second.arguments else { return false }
        if first.details === second.details { return true }
        guard let details = first.details, let other = second.details else { return false }
        return details.isEqual(to: other)
    }

    /// Hashes the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fastHash)
    }

    /// Whether the key consists of a type alone.
    var isPlain: Bool { arguments == nil && details == nil }
}

/// The service and the qualifier of a key, without the arguments and the role.
///
/// Hashing runs no user code, as for keys, so that names may be looked up under a lock.
struct ServiceName: Hashable {
    let service: any Any.Type
    private let details: KeyDetails?

    init(_ key: ServiceKey) {
        service = key.service
        details = key.details
    }

    static func == (first: ServiceName, second: ServiceName) -> Bool {
        guard first.service == second.service else { return false }
        guard let details = first.details, let other = second.details else {
            return (first.details ?? second.details)?.qualifier == nil
        }
        return details === other || details.qualifierHash == other.qualifierHash && details.hasQualifier(of: other)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(service))
        hasher.combine(details?.qualifierHash ?? 0)
    }
}

extension ServiceKey {
    /// A hash for the instance table: one multiplication spreads types, and only a qualifier runs its own hash.
    var fastHash: UInt { Self.fastHash(service, arguments, detailsHash: details?.hash) }

    /// The same for a request that has no key.
    static func fastHash(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type? = nil, detailsHash: UInt? = nil
    ) -> UInt {
        var bits = ObjectIdentifier(service).address
        if let arguments { bits = bits &* 31 &+ ObjectIdentifier(arguments).address }
        if let detailsHash { bits = bits &* 31 &+ detailsHash }
        let product = bits &* UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64)
        return product ^ (product >> (UInt.bitWidth / 2))
    }
}

extension ObjectIdentifier {
    fileprivate var address: UInt { UInt(bitPattern: self) }
}
