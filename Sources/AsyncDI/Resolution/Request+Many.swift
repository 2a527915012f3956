/// Several services under one type.
extension Resolver {
    /// Returns every contribution to a service; none is disposed before the instance that is being created.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the contributions were registered with.
    /// - Returns: An instance of each contribution, in the order of ``resolveMany(_:qualifier:)``.
    /// - Throws: ``ResolutionError/Code/invalidOperation`` when no container owns the end of the new instance, and the
    ///   errors of ``resolveMany(_:qualifier:)``; no lease is held then.
    public nonisolated(nonsending) func leaseMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> [Service] {
        let request = request(ServiceKey(Service.self, qualifier: qualifier), .none)
        return try await request.contributionsLeasedForCreation().instances(of: service)
    }

    /// Returns the contributions to a service whose keys are of one type; none is disposed before the instance that is
    /// being created.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - key: The type of the keys; contributions without a key, or with one of another type, are left out.
    ///   - qualifier: The qualifier that the contributions were registered with.
    /// - Returns: An instance of each contribution by its key.
    /// - Throws: ``ResolutionError/Code/invalidOperation`` when no container owns the end of the new instance, and the
    ///   errors of ``resolveMap(_:keyedBy:qualifier:)``; no lease is held then.
    public nonisolated(nonsending) func leaseMap<Service: Sendable, Key: Hashable & Sendable>(
        _ service: Service.Type = Service.self, keyedBy key: Key.Type, qualifier: (any Qualifier)? = nil
    ) async throws -> [Key: Service] {
        let request = request(ServiceKey(Service.self, qualifier: qualifier), .none)
        return try await request.contributionsLeasedForCreation(keyedBy: key).dictionary(of: service, keyedBy: key)
    }

    /// Returns the contribution under one key; it is not disposed before the instance that is being created.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - key: The key of the contribution.
    ///   - qualifier: The qualifier that the contribution was registered with.
    /// - Returns: The nearest contribution's instance.
    /// - Throws: ``ResolutionError/Code/invalidOperation`` when no container owns the end of the new instance, and the
    ///   errors of ``resolve(_:qualifier:)``.
    public nonisolated(nonsending) func lease<Service: Sendable>(
        _ service: Service.Type = Service.self, contributedAs key: some Hashable & Sendable,
        qualifier: (any Qualifier)? = nil
    ) async throws -> Service {
        try await request(.contribution(to: Service.self, as: key, qualifier), .none).leasedForCreation(service)
    }
}

extension ServiceKey {
    /// The key of one keyed contribution.
    static func contribution(
        to service: any Any.Type, as key: some Hashable & Sendable, _ qualifier: (any Qualifier)?
    ) -> ServiceKey {
        ServiceKey(service, qualifier: qualifier, role: .contribution(ContributionID(key: key)))
    }
}

extension [Request.Contribution] {
    func instances<Service: Sendable>(of service: Service.Type) -> [Service] {
        compactMap { $0.cell.load(as: service) }
    }

    func dictionary<Service: Sendable, Key: Hashable & Sendable>(
        of service: Service.Type, keyedBy key: Key.Type
    ) -> [Key: Service] {
        let pairs = compactMap { contribution in
            contribution.id.key(as: key).flatMap { key in contribution.cell.load(as: service).map { (key, $0) } }
        }
        return Dictionary(pairs) { _, nearest in nearest }
    }
}

extension Request {
    /// The instance of one contribution, in a cell that holds it.
    struct Contribution: Sendable {
        let id: ContributionID
        let cell: Cell
    }

    /// The wanted contributions to this request's service.
    nonisolated(nonsending) func contributions(
        keyedBy type: (any Any.Type)? = nil
    ) async throws -> [Contribution] {
        try await awaitModules()
        let keys = try contributionKeys(keyedBy: type)
        var cells = try keys.map { try asking($0.key).publishedCell() }
        let missing = cells.indices.filter { cells[$0] == nil }
        if missing.count == 1 {
            cells[missing[0]] = try await asking(keys[missing[0]].key).optionalCell()
        } else if !missing.isEmpty {
            let made = try await concurrently(missing, of: keys) { try await $0.optionalCell() }
            for (index, cell) in made { cells[index] = cell }
        }
        // A contribution without a cell was unregistered meanwhile.
        return zip(keys, cells).compactMap { key, cell in cell.map { Contribution(id: key.id, cell: $0) } }
    }

    /// The same, with leases that a body holds from the moment at which each is taken.
    ///
    /// From then on, a disposal waits for the lease, and the requests for the other contributions may wait for the
    /// disposal: the graph of waits must know the holder. If the call throws, the body has ended. Without a lease,
    /// there is no body.
    nonisolated(nonsending) func leasedContributions(
        keyedBy type: (any Any.Type)? = nil
    ) async throws -> (contributions: [Contribution], body: LeaseBody?) {
        try await awaitModules()
        // Inside the body, the requests belong to current work.
        try refuseWhileDraining()
        let body = LeaseBody(leasing: [], at: host, for: asker ?? ResolutionContext.activeRun, isCollecting: true)
        do {
            let contributions = try await LeaseBody.current.bind(body) {
                try await leasedContributions(keyedBy: type, in: body)
            }
            if !body.isEmpty { return (contributions, body) }
            body.end()
            return (contributions, nil)
        } catch {
            body.end()
            throw error
        }
    }

    private nonisolated(nonsending) func leasedContributions(
        keyedBy type: (any Any.Type)?, in body: LeaseBody
    ) async throws -> [Contribution] {
        let keys = try contributionKeys(keyedBy: type)
        // A ready instance needs no task of its own; it is leased in the step that finds it, like the others.
        let missing = keys.indices.filter { host.table.hit(keys[$0].key) == nil }
        var made: [Int: Cell?] = [:]
        if missing.count > 1 {
            let leased = try await concurrently(missing, of: keys) { try await $0.leasedCell(in: body) }
            made = Dictionary(uniqueKeysWithValues: leased)
        }
        var contributions: [Contribution] = []
        for (index, (id, key)) in keys.enumerated() {
            let cell = if let made = made[index] { made } else { try await asking(key).leasedCell(in: body) }
            // A contribution without a cell was unregistered meanwhile.
            if let cell { contributions.append(Contribution(id: id, cell: cell)) }
        }
        return contributions
    }

    private nonisolated(nonsending) func leasedCell(in body: LeaseBody) async throws -> Cell? {
        guard let found = try await leasedCell() else { return nil }
        if let lease = found.lease { body.add(lease) }
        return found.cell
    }

    /// Carries out the requests for the missing contributions concurrently; if one fails, the others are cancelled.
    ///
    /// - Throws: The first failure, after all requests have ended.
    private nonisolated(nonsending) func concurrently(
        _ missing: [Int], of keys: [(id: ContributionID, key: ServiceKey)],
        _ cell: @escaping @Sendable (Request) async throws -> Cell?
    ) async throws -> [(Int, Cell?)] {
        // For a request from outside, all contributions belong to one resolution.
        let ownGraph = asker == nil && graph == nil ? ResolutionGraph(isEntered: true) : nil
        defer { ownGraph?.leave() }
        return try await withThrowingTaskGroup(of: (Int, Cell?).self) { group in
            for index in missing {
                var request = asking(keys[index].key)
                if let ownGraph { request.graph = ownGraph }
                group.addTask { [request] in (index, try await cell(request)) }
            }
            var made: [(Int, Cell?)] = []
            for try await one in group { made.append(one) }
            return made
        }
    }

    private func contributionKeys(
        keyedBy type: (any Any.Type)?
    ) throws -> [(id: ContributionID, key: ServiceKey)] {
        if host.table.isClosed { throw host.refusal(of: key, asker: asker) }
        try checkOutlivedContributions(keyedBy: type)
        let found = host.contributions(to: key).compactMap { key in key.contribution(keyedBy: type).map { ($0, key) } }
        // Of a container that has ended meanwhile, they may not be all.
        if host.table.isClosed { throw host.refusal(of: key, asker: asker) }
        return found
    }

    /// Returns the ready contributions; throws `notReady` for the first one that is not ready.
    fileprivate func readyContributions(
        keyedBy type: (any Any.Type)? = nil
    ) throws -> [Contribution] {
        try contributionKeys(keyedBy: type).compactMap { id, key in
            try asking(key).readyCell().map { Contribution(id: id, cell: $0) }
        }
    }
}

/// A collection of all contributions to a service, if any exist: for initializers that take one.
private protocol ContributionCollection: WrapperType {
    associatedtype Contributed
    /// The type of the keys of wanted contributions; nil if any key will do, or none.
    static var keyType: (any Any.Type)? { get }
    static func collection(of contributions: [Request.Contribution]) -> Self
}

extension ContributionCollection {
    static var need: WrapperNeed { .contributions(Contributed.self, keyedBy: keyType) }

    static func isAvailable(for request: Request) -> Bool {
        let request = request.asking(for: Contributed.self)
        return request.host.contributions(to: request.key).contains { $0.contribution(keyedBy: keyType) != nil }
            || request.wasContributed(keyedBy: keyType)
    }

    static nonisolated(nonsending) func resolve(for request: Request, leasing: Bool) async throws -> Any? {
        try refuseArguments(of: request)
        let inner = request.asking(for: Contributed.self)
        let contributions =
            try await leasing
            ? inner.contributionsLeasedForCreation(keyedBy: keyType) : inner.contributions(keyedBy: keyType)
        return found(contributions, by: request)
    }

    static func ready(for request: Request) throws -> Any? {
        try refuseArguments(of: request)
        return found(try request.asking(for: Contributed.self).readyContributions(keyedBy: keyType), by: request)
    }

    private static func refuseArguments(of request: Request) throws {
        guard request.key.arguments != nil, isAvailable(for: request) else { return }
        if let mismatch = request.host.mismatch(request.key, asker: request.asker) { throw mismatch }
        throw request.failure(
            .argumentMismatch, "\(request.key) was requested with arguments, which no contribution takes.",
            advice: "Leave the arguments out, or register the collection itself with a factory that takes them.")
    }

    /// The collection; nil if no contribution is registered.
    private static func found(_ contributions: [Request.Contribution], by request: Request) -> Any? {
        contributions.isEmpty && !isAvailable(for: request) ? nil : collection(of: contributions)
    }
}

extension Array: ContributionCollection, WrapperType {
    fileprivate typealias Contributed = Element
    fileprivate static var keyType: (any Any.Type)? { nil }

    fileprivate static func collection(of contributions: [Request.Contribution]) -> [Element] {
        contributions.compactMap { $0.cell.load(unconstrained: Element.self) }
    }
}

/// With the keys of the contributions, those of this type.
extension Dictionary: ContributionCollection, WrapperType {
    fileprivate typealias Contributed = Value
    fileprivate static var keyType: (any Any.Type)? { Key.self }

    fileprivate static func collection(of contributions: [Request.Contribution]) -> [Key: Value] {
        var map = [Key: Value](minimumCapacity: contributions.count)
        for contribution in contributions {
            guard let key = contribution.id.key(as: Key.self) else { continue }
            map[key] = contribution.cell.load(unconstrained: Value.self)
        }
        return map
    }
}
