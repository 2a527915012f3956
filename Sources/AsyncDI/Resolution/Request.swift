/// One request: its key, its arguments, its container and the requesting run.
struct Request: Sendable {
    let key: ServiceKey
    let pack: ArgumentPack
    /// The container of the request.
    let host: any ResolutionHost
    /// The run of a factory or hook that makes the request, nil outside any.
    let asker: Run?
    /// The graph that shares instances with this request, unless it is the asker's.
    var graph: ResolutionGraph?
    /// The creation whose product holds the requested instance, in addition to the asker's holder.
    var heldBy: Creation?
    /// Whether this request is for the instance inside a decorated registration, which no other request finds under the
    /// same key.
    var isInner = false
    /// Whether the container makes this request during its start.
    var isOfStart = false
    /// Whether the requester does not receive the instance, as in a start.
    var isUnheld = false
    /// Whether recorders count this as another run's request and not as the asker's.
    var isNoted = false

    /// The shared creation whose product will hold the instance; of two, the one whose product lives longer.
    var holder: Creation? {
        guard let heldBy else { return asker?.holder }
        guard let asking = asker?.holder else { return heldBy }
        return heldBy.outlives(asking) ? heldBy : asking
    }

    /// The run that recorders count the request for; nil without a recording.
    private var recorded: RecordedRun? { isNoted ? nil : asker?.recorded }

    /// The published instance, in a cell that holds it, if one exists.
    func publishedCell() throws -> Cell? {
        let cell = try unrecordedCell()
        // Most hits come from outside every factory and need no record.
        if let recorded, cell != nil { recorded.asks(for: key, of: host) }
        return cell
    }

    private func unrecordedCell() throws -> Cell? {
        if isHeldUp || isOfOutlivingTask { return nil }
        guard let (cell, table) = host.table.hit(key), !isHeldUp(by: table) else { return nil }
        guard holder != nil else { return cell.strengthened() }
        try checkCaptive(in: table.host, isScoped: !cell.isSharedBelow, isResettable: cell.isResettable)
        return cell.strengthened()
    }

    /// Whether the request must wait for `loaded` of pending modules: only a request from outside does.
    var isHeldUp: Bool { asker == nil && host.table.hasPendingModules }

    /// The same for the container whose registration the request has found.
    ///
    /// It may be published before the containers below know that its module is pending.
    func isHeldUp(by table: InstanceTable) -> Bool {
        asker == nil && table.hasPendingModules && ResolutionContext.activeRun == nil
    }

    /// Waits until pending modules are loaded.
    nonisolated(nonsending) func awaitModules() async throws {
        if isHeldUp { try await loadModules(of: host) }
    }

    // Not inlined, so that its frame is not part of every request.
    @inline(never)
    nonisolated(nonsending) func loadModules(of owner: any ResolutionHost) async throws {
        // The error names the service, not the modules that will never be loaded.
        if host.table.isClosed { throw host.refusal(of: key, asker: asker) }
        do {
            try await owner.loadModules()
        } catch let error as ResolutionError where error.code == .disposed && !error.isOfUserCode {
            throw host.table.isClosed ? host.refusal(of: key, asker: asker) : error
        }
    }

    /// The instance.
    nonisolated(nonsending) func resolve<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        if let cell = try publishedCell() { return cell.value(as: service) }
        return try await resolveUnready(service)
    }

    /// The instance when it is not published yet.
    nonisolated(nonsending) func resolveUnready<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        switch try await find() {
        case .instance(let cell):
            return cell.value(as: service)
        case .transient(let binding):
            return try await makeTransient(binding, as: service)
        case .unregistered, .unsupplied:
            return try await unregistered(service)
        }
    }

    // Not inlined, so that its frame is not part of every request.
    @inline(never)
    nonisolated(nonsending) func unregistered<Service: Sendable>(
        _ service: Service.Type, leasing: Bool = false
    ) async throws -> Service {
        guard let instance = try await wrapper(as: service, leasing: leasing) else {
            throw host.miss(key.unwrapped(Service.self), asker: asker)
        }
        return instance
    }

    /// The result of a request whose service is not known here.
    private enum Found {
        /// A cell that holds the instance.
        case instance(Cell)
        /// The registration of a transient service, which is created where its type is known.
        case transient(Binding)
        case unregistered
        /// The answer to an optional request for a value that no scope has supplied.
        case unsupplied
    }

    /// Finds, awaits or creates the instance.
    ///
    /// Not generic: the memory of a task that waits is smaller, and the runtime looks no types up.
    private nonisolated(nonsending) func find(isOptional: Bool = false) async throws -> Found {
        try await awaitModules()
        while true {
            let registrationCount = RegistrationCounter.now
            guard let (binding, table) = try registration() else { return .unregistered }
            if isHeldUp(by: table) {
                try await loadModules(of: table.host)
                continue
            }
            if isOptional, try lacksValue(binding, of: table.host) { return .unsupplied }
            if binding.lifetime.sharing == .none, binding.blueprint.target == nil { return .transient(binding) }
            if let cell = try await resolveCell(binding, owner: table.host, registrationCount: registrationCount)?
                .strengthened()
            {
                return .instance(cell)
            }
        }
    }

    /// The instance of a registration; nil if the registration was replaced meanwhile.
    nonisolated(nonsending) func resolveCell(
        _ binding: Binding, owner: any ResolutionHost, registrationCount: UInt
    ) async throws -> Cell? {
        if let target = binding.blueprint.target {
            return try await forward(target, by: binding, owner: owner, registrationCount: registrationCount)
        }
        guard let place = place(of: binding, owner: owner) else { return try await ownCell(binding) }
        return try await sharedInstance(binding, in: place, registrationCount: registrationCount)?.cell
    }

    /// The instance of a transient or graph service; nil if the request must start over.
    nonisolated(nonsending) func ownCell(_ binding: Binding) async throws -> Cell? {
        binding.lifetime.sharing == .graph ? try await graphInstance(binding) : try await makeTransientCell(binding)
    }

    /// The container that caches the instances of a registration for this request; nil for transient and graph
    /// services.
    func place(of binding: Binding, owner: any ResolutionHost) -> (any ResolutionHost)? {
        switch binding.lifetime.sharing {
        case .none, .graph: nil
        case .resolvingContainer: host
        case .registeringContainer: owner
        }
    }

    /// Resolves the service behind a forwarded type, in the container that registered it.
    private nonisolated(nonsending) func forward(
        _ forward: Forward, by alias: Binding, owner: any ResolutionHost, registrationCount: UInt
    ) async throws -> Cell? {
        guard let (binding, place) = try target(of: forward, in: owner) else { throw missing(in: owner) }
        var request = asking(forward.from)
        request.isUnheld = isUnheld
        request.isInner = isHidden(binding)
        guard let cell = try await request.resolveCell(binding, owner: place, registrationCount: registrationCount)
        else { return nil }
        let converted = try convert(cell, by: forward)
        // The value of one scope is no instance of the container that expects it.
        guard place === owner, let home = self.place(of: binding, owner: owner),
            !isInner || binding.lifetime.sharing == .registeringContainer
        else { return converted }
        home.publish(
            converted, of: cell, for: CreationKey(binding, pack), under: alias, registrationCount: registrationCount)
        return converted
    }

    /// The error for a registration that this request has found, and that a container has no more.
    ///
    /// A disposal that ended meanwhile has removed every registration.
    func missing(in owner: any ResolutionHost) -> ResolutionError {
        owner.table.isClosed ? owner.refusal(of: key, asker: asker) : host.miss(key, asker: asker)
    }

    /// The registration behind a forwarded type, in the container that registered it; for a value that scopes supply,
    /// the nearest one.
    ///
    /// - Throws: The problem of the registration.
    func target(
        of forward: Forward, in owner: any ResolutionHost
    ) throws -> (binding: Binding, owner: any ResolutionHost)? {
        guard var (binding, table) = owner.table.registration(of: forward.from), table === owner.table else {
            return nil
        }
        if binding.blueprint.isExpected, let nearest = host.table.currentRegistration(of: forward.from) {
            (binding, table) = nearest
        }
        if let problem = binding.problem { throw problem }
        return (binding, table.host)
    }

    /// Whether a request to this container for the key of a registration finds another one, although a forward leads to
    /// this one.
    ///
    /// The other one is nearer, or the decorated form. A published scoped instance would hide it.
    func isHidden(_ binding: Binding) -> Bool {
        binding.lifetime.sharing == .resolvingContainer
            && host.table.currentRegistration(of: binding.key)?.binding !== binding
    }

    func convert(_ cell: Cell, by forward: Forward) throws -> Cell {
        do {
            return try forward.convert(cell)
        } catch {
            throw failure(error.code, error.message, advice: error.advice)
        }
    }

    /// An error of this request.
    func failure(_ code: ResolutionError.Code, _ message: String, advice: String?) -> ResolutionError {
        ResolutionError(code, message, advice: advice, steps: pathToHere, asker: asker)
    }

    /// The path of an error of this request.
    var pathToHere: [PathStep] {
        let site = host.table.registration(of: key)?.binding.blueprint.site
        return (asker?.path ?? []) + [PathStep(key: key, pack: pack, site: site)]
    }
}

extension Request {
    /// The same request for another service.
    func asking(for service: any Any.Type) -> Request { asking(key.of(service)) }

    /// The same request for another key.
    func asking(_ key: ServiceKey) -> Request {
        Request(key: key, pack: pack, host: host, asker: asker, graph: graph, heldBy: heldBy, isNoted: isNoted)
    }

    /// The instance; nil without a registration.
    ///
    /// A missing dependency throws.
    nonisolated(nonsending) func optional<Service: Sendable>(_ service: Service.Type) async throws -> Service? {
        if let cell = try publishedCell() { return cell.value(as: service) }
        switch try await find(isOptional: true) {
        case .instance(let cell): return cell.value(as: service)
        case .transient(let binding): return try await makeTransient(binding, as: service)
        case .unsupplied: return nil
        case .unregistered: return try await wrapper(as: service) ?? absent()
        }
    }

    /// The instance of a service whose type is not known here.
    nonisolated(nonsending) func cell() async throws -> Cell {
        guard let cell = try await optionalCell() else { throw host.miss(key, asker: asker) }
        return cell
    }

    /// The same; nil without a registration, and for an optional request without a supplied value.
    nonisolated(nonsending) func optionalCell(isOptional: Bool = false) async throws -> Cell? {
        switch try await find(isOptional: isOptional) {
        case .instance(let cell): cell
        case .transient(let binding): try await makeTransientCell(binding)
        case .unsupplied: nil
        case .unregistered: try absent()
        }
    }

    /// The nearest registration of the key.
    ///
    /// - Throws: The problem of the registration; `disposed`.
    func registration() throws -> (binding: Binding, table: InstanceTable)? {
        let found = host.table.currentRegistration(of: key)
        // Checked after the look-up: a container that was disposed meanwhile has no registrations.
        if host.table.isClosed { throw host.refusal(of: key, asker: asker) }
        if let found, found.table.isClosed { throw found.table.host.refusal(of: key, asker: asker) }
        try checkOutlived(answeredBy: found?.binding)
        if let found, let recorded { recorded.asks(for: found.binding, in: found.table) }
        if let problem = found?.binding.problem { throw problem }
        return found
    }

    /// Whether a registration expects a value of each scope, and none has supplied it to this request.
    func isUnsupplied(_ binding: Binding, owner: any ResolutionHost) throws -> Bool {
        switch binding.base {
        case .forward(let alias)?:
            return try isUnsupplied(alias, owner: owner)
        case .inherited(let inner)?:
            guard let (found, table) = owner.table.registration(beyondFor: inner.key) else { return false }
            return try isUnsupplied(found, owner: table.host)
        case .instance?, nil:
            guard let forward = binding.blueprint.target else { return binding.blueprint.isExpected }
            return try target(of: forward, in: owner)?.binding.blueprint.isExpected == true
        }
    }

    /// Whether an optional request gets nil, because no scope has supplied the expected value.
    ///
    /// - Throws: `notRegistered` for an instance that outlives the scopes and would keep the nil.
    func lacksValue(_ binding: Binding, of owner: any ResolutionHost) throws -> Bool {
        guard try isUnsupplied(binding, owner: owner) else { return false }
        if !isUnheld, let holder, holder.binding.lifetime.outlivesScopes, holder.home === owner {
            throw ResolutionError.unsupplied(key, in: host, steps: pathToHere, asker: asker)
        }
        return true
    }

    /// The answer for a service that is not registered: nil, or an error if it is registered with other arguments.
    func absent<Answer>() throws -> Answer? {
        if host.table.isClosed { throw host.refusal(of: key, asker: asker) }
        if let mismatch = host.mismatch(key, asker: asker) { throw mismatch }
        return nil
    }

    /// The instance of a wrapper type, such as `Lazy`; nil for any other, and without the service inside.
    private nonisolated(nonsending) func wrapper<Service: Sendable>(
        as service: Service.Type, leasing: Bool = false
    ) async throws -> Service? {
        guard let wrapper = service as? any WrapperType.Type,
            let wrapped = try await wrapper.resolve(for: self, leasing: leasing)
        else { return nil }
        guard let instance = wrapped as? Service else { throw host.miss(key, asker: asker) }
        return instance
    }
}
