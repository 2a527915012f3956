import AsyncDI

/// A container of a world, as the checker knows it: by name, without holding it.
final class Home: Sendable {
    let name: String
    let parent: Home?
    let fallbacks: [Home]
    /// The time at which a disposal was known to be over, by the checker's clock.
    let closed = Locked<Int?>(nil)

    init(_ name: String, parent: Home? = nil, fallbacks: [Home] = []) {
        self.name = name
        self.parent = parent
        self.fallbacks = fallbacks
    }

    /// Whether instances of the other container may be resolved here: it is this one, an ancestor, or a fallback.
    func reaches(_ other: Home) -> Bool {
        self === other || fallbacks.contains { $0.reaches(other) } || parent?.reaches(other) == true
    }

    /// This container and its ancestors.
    var andAbove: [Home] { [self] + (parent?.andAbove ?? []) }

    /// Whether this is the other container, or below it.
    func isInside(_ other: Home) -> Bool { self === other || parent?.isInside(other) == true }

    /// The time at which it, or an ancestor, was over.
    var end: Int? { [closed.current, parent?.end].compactMap(\.self).min() }
}

/// One registration of a service of the plan: registering again creates another one.
final class Definition: Sendable {
    let id: Int
    let service: Int
    let plan: Plan.Service

    init(id: Int, service: Int, plan: Plan.Service) {
        self.id = id
        self.service = service
        self.plan = plan
    }

    var hasHook: Bool { plan.disposed != nil && plan.sharing.isOwned }
}

/// The instances that the factories of a world create.
final class Made: Sendable {
    let id: Int
    let definition: Definition
    let argument: Int
    /// The container that owns the instance.
    let home: Home
    let held: [Made]
    /// Whether a scope was supplied with it: the scopes below have it too.
    let isSupplied: Bool
    private let live: Locked<[Int: String]>

    init(
        id: Int, _ definition: Definition, argument: Int, in home: Home, holding held: [Made],
        isSupplied: Bool = false, live: Locked<[Int: String]>
    ) {
        self.id = id
        self.definition = definition
        self.argument = argument
        self.home = home
        self.held = held
        self.isSupplied = isSupplied
        self.live = live
        live.withLock { $0[id] = name }
    }

    deinit { live.withLock { $0[id] = nil } }

    var name: String { "s\(definition.service)(\(argument)) #\(id) of \(home.name)" }
}

/// The oracle of a random world: it observes the events, and complains of violations.
final class Checker: Sendable {
    private struct Key: Hashable {
        let definition: Int
        let home: ObjectIdentifier
        let argument: Int
    }

    /// One run of a factory, and its result.
    private struct Creation {
        let key: Key
        let isExclusive: Bool
        /// The number of invalidations at its beginning.
        let began: Int?
        var isRunning = true
        var name: String
        /// The same when outside code first received the instance.
        var settled: Int?
        var isSettled = false
        var mustBeDisposed = false
        var disposals = 0
        var isDisposed = false
        var home: Home

        /// Whether it certainly was the container's only one: after an invalidation in flight, only the waiters have
        /// it.
        var isTheOne: Bool { began != nil && settled == began }
    }

    private struct State {
        var time = 0
        var creations: [Int: Creation] = [:]
        /// The resets and registrations that have begun and that have ended, in all containers.
        var invalidations = 0
        var invalidating = 0
        /// The number of requests in progress for each service.
        var requests: [Int: Int] = [:]
        /// The services with a request that began before the last invalidation: a creation may be as old, however late
        /// its factory begins.
        var mayBeOld: Set<Int> = []

        func generation(of service: Int) -> Int? { mayBeOld.contains(service) ? nil : generation }

        /// The number of invalidations so far; nil during one, when the number is uncertain.
        var generation: Int? { invalidating == 0 ? invalidations : nil }
    }

    let complaints = Complaints()
    /// The latest events, for a person who looks for a cause.
    let trail = Trail()
    /// The names of the instances in memory.
    let live = Locked<[Int: String]>([:])
    private let state = Locked(State())

    /// Until the first complaint: later events explain nothing.
    private func note(_ event: @autoclosure () -> String) {
        if complaints.isEmpty { trail.add(event()) }
    }

    /// A time to compare with the ends of containers.
    var now: Int {
        state.withLock { state in
            state.time += 1
            return state.time
        }
    }

    // MARK: Creations

    /// Notes the beginning of a factory.
    func begins(_ definition: Definition, argument: Int, in home: Home) -> Int {
        let key = Key(definition: definition.id, home: ObjectIdentifier(home), argument: argument)
        let isExclusive = definition.plan.sharing.isExclusive
        let name = "s\(definition.service)(\(argument)) of \(home.name)"
        return state.withLock { state in
            state.time += 1
            let id = state.time
            note("#\(id): factory of \(name), registration \(definition.id), begins")
            if isExclusive {
                for other in state.creations.values where other.key == key {
                    if other.isRunning, let began = other.began, began == state.generation {
                        complaints.add("two creations of \(name) at once")
                    }
                    if !other.isRunning, other.isTheOne, other.mustBeDisposed, !other.isDisposed {
                        let stage = other.disposals == 0 ? "not disposed" : "being disposed"
                        complaints.add("\(name) is made again while \(other.name) is \(stage)")
                    }
                }
            }
            state.creations[id] = Creation(
                key: key, isExclusive: isExclusive, began: state.generation(of: definition.service), name: name,
                home: home)
            return id
        }
    }

    /// Notes the end of a factory, with its instance if it created one.
    func ended(_ creation: Int, with made: Made?) {
        note("#\(creation): factory ends\(made == nil ? " in vain" : "")")
        state.withLock { state in
            guard let made else {
                state.creations[creation] = nil
                return
            }
            state.creations[creation]?.isRunning = false
            state.creations[creation]?.name = made.name
            state.creations[creation]?.mustBeDisposed = made.definition.hasHook
        }
    }

    /// Notes that a scope was supplied with an instance.
    func supplied(_ made: Made) { state.withLock { $0.creations[made.id]?.mustBeDisposed = true } }

    /// Resets or replaces services, in any container: creations in flight may have no owner afterwards.
    func invalidating<R>(_ body: () async throws -> R) async rethrows -> R {
        state.withLock { state in
            state.invalidations += 1
            state.invalidating += 1
        }
        defer {
            state.withLock { state in
                state.invalidations += 1
                state.invalidating -= 1
                state.mayBeOld = Set(state.requests.keys)
            }
        }
        return try await body()
    }

    /// Notes the beginning of a request that may begin the creation of these services.
    func requestBegins(for services: some Sequence<Int>) {
        state.withLock { state in
            for service in services { state.requests[service, default: 0] += 1 }
        }
    }

    func requestEnds(for services: some Sequence<Int>) {
        state.withLock { state in
            for service in services {
                state.requests[service, default: 0] -= 1
                if state.requests[service] == 0 { state.requests[service] = nil }
            }
        }
    }

    // MARK: Answers

    /// Notes that a request to one of these containers received an instance.
    ///
    /// - Parameters:
    ///   - made: The instance.
    ///   - asking: The containers of which one answered; none when that is unknown.
    ///   - moment: The beginning of the request; nil where an instance may be older than the end of its container.
    ///   - isOutside: Whether the request came from outside every factory and hook, which may receive an unfinished
    ///     instance.
    ///   - asker: The name of the requesting code.
    func given(_ made: Made, asking: [Home], since moment: Int?, isOutside: Bool, by asker: String) {
        note("#\(made.id) is given to \(asker)")
        if isOutside {
            state.withLock { state in
                guard state.creations[made.id]?.isSettled == false else { return }
                let generation = state.generation
                state.creations[made.id]?.isSettled = true
                state.creations[made.id]?.settled = generation
            }
        }
        let asked = asking.map(\.name).joined(separator: " or ")
        if made.definition.plan.sharing.belongsToAsked, !made.isSupplied {
            complaints.expect(
                asking.isEmpty || asking.contains { $0 === made.home }, "\(made.name) was given in \(asked) to \(asker)"
            )
        } else {
            complaints.expect(
                asking.isEmpty || asking.contains { $0.reaches(made.home) },
                "\(made.name) was given in \(asked) to \(asker)")
        }
        if let moment, let end = made.home.end, end < moment {
            complaints.add("\(made.name) was given to \(asker) after its end")
        }
    }

    /// Notes the failure of a request.
    func failed(_ error: any Error, _ asker: String) {
        note("\(asker) throws \(String("\(error)".prefix(90)))")
        switch error {
        case is CancellationError:
            complaints.expect(Task.isCancelled, "somebody else's CancellationError for \(asker)")
        case is OwnError, is DisposalError:
            break
        case let error as ResolutionError:
            complaints.expect(Self.expected.contains(error.code), "\(asker): \(error)")
            complaints.expect(
                !(error.underlying is OwnError), "an error of a factory was wrapped for \(asker): \(error)")
        default:
            complaints.add("\(asker): \(error)")
        }
    }

    private static let expected: Set<ResolutionError.Code> = [
        .notRegistered, .circularDependency, .captiveDependency, .disposed, .creationCancelled, .notReady,
        .invalidOperation, .argumentMismatch,
    ]

    // MARK: Disposal

    func disposalBegins(of made: Made) {
        note("#\(made.id): onDispose begins")
        state.withLock { state in
            guard let count = state.creations[made.id]?.disposals else { return }
            state.creations[made.id]?.disposals += 1
            if count > 0 { complaints.add("\(made.name) is disposed twice") }
        }
    }

    func disposalEnds(of made: Made) {
        note("#\(made.id): onDispose ends")
        state.withLock { $0.creations[made.id]?.isDisposed = true }
    }

    /// Notes that a call that disposes a container has returned.
    func closed(_ home: Home, by caller: String) {
        let now = now
        note("\(home.name) is closed by \(caller)")
        home.closed.withLock { $0 = $0 ?? now }
        let open = state.withLock { state in
            state.creations.values.filter { $0.mustBeDisposed && !$0.isDisposed && $0.home.isInside(home) }.map(\.name)
        }
        complaints.expect(open.isEmpty, "\(caller) returned before the end of \(open.sorted().prefix(3))")
    }

    /// Notes that everything was disposed.
    func allIsOver() {
        let open = state.withLock { state in
            state.creations.values.filter { $0.mustBeDisposed && !$0.isDisposed }.map(\.name)
        }
        complaints.expect(open.isEmpty, "never disposed: \(open.sorted().prefix(3))")
    }
}

/// The error that factories and hooks of a world throw.
struct OwnError: Error {
    let number: Int
}
