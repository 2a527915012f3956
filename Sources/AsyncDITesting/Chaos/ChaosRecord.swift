import AsyncDI

/// The record of one round, and the invariants that it must satisfy.
///
/// A pure value. Events arrive in order, because containers deliver them in order; calls come from any task.
struct ChaosRecord {
    /// An instance as events identify it: the registration's key, and the arguments.
    private struct Instance: Hashable {
        let key: ServiceKey
        let arguments: [AnyHashable]
    }

    /// An instance in one container: a cached one, or a singleton that is being created.
    private struct Cached: Hashable {
        let instance: Instance
        let container: UInt64
    }

    /// An object that factories return: several times if it is shared, or has the address of a released one.
    private struct Returned: Hashable {
        let key: ServiceKey
        let object: ObjectIdentifier
    }

    /// Whether instances are reset, so that two creations of one may overlap.
    private let resets: Bool
    /// The numbers of runs of the factories of singletons without arguments.
    private var running: [Cached: Int] = [:]
    private var alive: [Cached: Int] = [:]
    private var created: [Instance: Int] = [:]
    private var disposed: [Instance: Int] = [:]
    private var objects: [Returned: Int] = [:]
    /// The numbers of runs of each hook for an object.
    private var closings: [Returned: [Int: Int]] = [:]
    private var closedByHook: [ServiceKey: Int] = [:]
    private var hasHooks: Set<KnownRegistration> = []
    /// The numbers of factory runs that returned a shared instance.
    private var returned: [KnownRegistration: Int] = [:]
    /// The same by service, and the numbers of creations, which are more where inherited instances are decorated.
    private var runs: [ServiceKey: Int] = [:]
    private var creations: [ServiceKey: Int] = [:]
    private var createdTwice: [ServiceKey] = []
    private var injected: [ServiceKey: Int] = [:]
    private var failed: [ServiceKey: Int] = [:]
    private var shared: Set<ServiceKey> = []
    /// The lifetimes of each service, which containers may register differently.
    private var lifetimes: [ServiceKey: Set<Lifetime>] = [:]
    private(set) var problems: [String] = []
    /// The faults and the calls that they hit, in order.
    private(set) var plan: [String] = []

    init(resets: Bool = false) { self.resets = resets }

    // MARK: Calls

    mutating func begin(_ call: InterceptedCall) {
        if call.kind == .disposalHook { hasHooks.insert(KnownRegistration(key: call.key, site: call.site)) }
        guard call.kind == .factory else { return }
        if Self.isShared(call.lifetime) { shared.insert(call.key) }
        lifetimes[call.key, default: []].insert(call.lifetime)
        guard let singleton = Self.singleton(madeBy: call) else { return }
        running[singleton, default: 0] += 1
        if running[singleton, default: 0] > 1, !resets {
            problems.append("\(call.key) was being created twice at once in one container.")
        }
    }

    /// Notes that a factory has returned.
    mutating func noteReturn(of call: InterceptedCall) {
        guard Self.isShared(call.lifetime) else { return }
        returned[KnownRegistration(key: call.key, site: call.site), default: 0] += 1
        runs[call.key, default: 0] += 1
    }

    /// Notes that a factory or hook has thrown: after a hook's error, its factory's instance is no creation.
    mutating func fail(_ call: InterceptedCall) {
        if call.kind == .propertyHook || call.kind == .creationHook, Self.isShared(call.lifetime) {
            runs[call.key, default: 0] -= 1
        }
        end(call)
    }

    /// Notes that a factory or hook has ended, with an error or without.
    mutating func end(_ call: InterceptedCall) {
        if call.kind == .disposalHook, call.index == 0 { closedByHook[call.key, default: 0] += 1 }
        if call.kind == .factory, let singleton = Self.singleton(madeBy: call) { running[singleton, default: 0] -= 1 }
    }

    private static func singleton(madeBy call: InterceptedCall) -> Cached? {
        guard call.lifetime == .singleton, call.key.argumentTypes.isEmpty else { return nil }
        return Cached(instance: Instance(key: call.key, arguments: []), container: call.owner)
    }

    /// Notes that an `onDispose` hook runs for an object.
    ///
    /// A registration that came with its instance may have been given one that others have, too.
    mutating func close(_ call: InterceptedCall, _ object: ObjectIdentifier) {
        if call.isOfInstance { return }
        let returned = Returned(key: call.key, object: object)
        closings[returned, default: [:]][call.index, default: 0] += 1
        if closings[returned, default: [:]][call.index, default: 0] > objects[returned, default: 0] {
            problems.append("An instance of \(call.key) was disposed twice.")
        }
    }

    /// Notes that a factory has returned an object.
    mutating func make(_ key: ServiceKey, _ object: ObjectIdentifier) {
        objects[Returned(key: key, object: object), default: 0] += 1
    }

    mutating func inject(_ text: String, into call: InterceptedCall, isError: Bool) {
        plan.append(text)
        if isError, call.kind == .disposalHook || Self.isShared(call.lifetime) { injected[call.key, default: 0] += 1 }
    }

    // MARK: Events

    /// Notes an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - arguments: The arguments of its instance.
    ///   - container: A number of the container, which stands for no other one.
    mutating func happen(_ event: ContainerEvent, arguments: [AnyHashable], in container: UInt64) {
        func cached(_ key: ServiceKey) -> Cached {
            Cached(instance: Instance(key: key, arguments: arguments), container: container)
        }
        switch event {
        case .created(let key, _, _):
            created[cached(key).instance, default: 0] += 1
            creations[key, default: 0] += 1
            // Of a multiton, a creation that was drained and one of its successor may overlap, and a weak instance ends
            // without an event.
            guard !resets, lifetimes[key, default: []].isSubset(of: [.singleton, .scoped]) else { return }
            alive[cached(key), default: 0] += 1
            if alive[cached(key), default: 0] > 1 { createdTwice.append(key) }
        case .evicted(let key):
            alive[cached(key)] = nil
        case .disposed(let key):
            alive[cached(key)] = nil
            disposed[cached(key).instance, default: 0] += 1
        case .failed(let key, _):
            failed[key, default: 0] += 1
        default: break
        }
    }

    /// Whether some creations of a service ran no factory of it: they decorate inherited instances, which have the same
    /// key in the same container if they are scoped.
    private func isDecorated(_ key: ServiceKey) -> Bool {
        creations[key, default: 0] > runs[key, default: 0]
    }

    // MARK: The end of the round

    /// Checks the invariants, after every disposal and every event.
    mutating func check() {
        // Known now, because events come later than the calls that they are about.
        for key in createdTwice where !isDecorated(key) {
            problems.append("\(key) was created twice in one container.")
        }
        for instance in Set(created.keys).union(disposed.keys) {
            let (made, gone) = (created[instance, default: 0], disposed[instance, default: 0])
            if made > gone { problems.append("\(instance.key) was created \(made) times and disposed \(gone) times.") }
            if gone > made, shared.contains(instance.key) {
                problems.append("\(instance.key) was disposed \(gone) times and created \(made) times.")
            }
        }
        let disposals = Dictionary(grouping: disposed, by: \.key.key).mapValues { $0.map(\.value).reduce(0, +) }
        for key in Set(hasHooks.map(\.key)) {
            // Another registration of the key may have no hook. One whose hook never runs looks the same.
            let others = returned.filter { $0.key.key == key && !hasHooks.contains($0.key) }
                .map(\.value).reduce(0, +)
            // Nor has the decoration of an inherited instance.
            let decorated = max(creations[key, default: 0] - runs[key, default: 0], 0)
            let count = disposals[key, default: 0] - others - decorated
            let runs = closedByHook[key, default: 0]
            if runs < count {
                problems.append("\(key) was disposed \(count) times, and its onDispose ran \(runs) times.")
            }
        }
        for (key, count) in injected where failed[key, default: 0] < count {
            let told = failed[key, default: 0]
            problems.append("\(count) errors of \(key) were thrown, and observers were told of \(told).")
        }
        problems.sort()
    }

    private static func isShared(_ lifetime: Lifetime) -> Bool { lifetime != .transient && lifetime != .graph }
}
