import AsyncDI

/// The actions of user code in a random world: in a task of the test, a factory, a hook, a body.
indirect enum Step: Sendable {
    /// Lets other tasks go first, and reacts to a cancellation.
    case yield
    /// Throws every other time.
    case fail(Failure)
    case ask(Ask)
    case reset(Place, Forgotten)
    case dispose(Place, End)
    /// Registers a service again, replacing the previous registration.
    case register(Place, service: Int)
    case unregister(Place, service: Int)
    case start(Place)
    /// Opens a scope and stores it in a slot.
    case openScope(Place, slot: Int)
    /// Runs a `withScope`, which is supplied with an instance of a service.
    case inScope(Place, supplied: Int?, [Step])
    /// Runs a `withInstance`.
    case leasing(Place, service: Int, argument: Int, [Step])
    /// Runs a `withGraph`, with the identifier of a slot or a new graph.
    case inGraph(Place, slot: Int?, [Step])
    case spawn(Spawning, [Step])
    /// Catches every error of the steps.
    case tolerating([Step])

    enum Failure: Sendable { case own, cancellation }

    /// The way in which a container is disposed.
    enum End: Sendable { case now, deadline, failing, drained }

    /// The container that a step refers to.
    enum Place: Sendable {
        /// The container that the code runs for: that of its resolver, or the scope around it.
        case here
        /// One of the containers that the world consists of.
        case base(Int)
        /// The scope in a slot; the step does nothing without one.
        case slot(Int)
    }

    enum Forgotten: Sendable {
        case everything, singletons, scoped, session
        case throughAncestors
        case service(Int)
        case argument(service: Int, Int)
        /// The same, after the last lease.
        case drained(service: Int, Int)
    }

    enum Spawning: Sendable {
        case childTask, group
        /// A `Task`, or a detached one, awaited at once.
        case task, detached
        /// The same, left behind.
        case leftTask, leftDetached
    }

    struct Ask: Sendable {
        enum Way: Sendable {
            case resolve, optional, ready, lease, lazy, provider
            /// Stores a `Provider` or a `Lazy` in a slot, or calls the stored one.
            case keepProvider(Int), callProvider(Int), keepLazy(Int), callLazy(Int)
        }
        var service: Int
        /// For services with an argument.
        var argument: Int
        var way: Way
        /// Nil for the resolver of the run.
        var place: Place?
    }
}

/// A random world and its actions, as plain data.
struct Plan: Sendable {
    enum Sharing: Sendable, CaseIterable {
        case transient, graph, scoped, singleton, multiton, boundedMultiton, idleMultiton, weak
        case session, stored, storedWeakly

        var lifetime: Lifetime {
            switch self {
            case .transient: .transient
            case .graph: .graph
            case .scoped: .scoped
            case .singleton: .singleton
            case .multiton: .multiton
            case .boundedMultiton: .multiton(capacity: 1)
            case .idleMultiton: .multiton(idle: .milliseconds(1))
            case .weak: .weak
            case .session: .session
            case .stored: Lifetime("stored") { StrongStorage() }
            case .storedWeakly: Lifetime("stored weakly") { WeakStorage() }
            }
        }

        /// Whether the container of the request has its own instance, or no container keeps one.
        var belongsToAsked: Bool {
            switch self {
            case .transient, .graph, .scoped: true
            default: false
            }
        }

        /// Whether instances are disposed.
        var isOwned: Bool { self != .transient && self != .graph && self != .weak }

        /// Whether only one instance of a key exists at a time, from its factory to the end of its hook.
        ///
        /// A hook, or a body that holds a lease, may request the successor of an instance that is not a multiton's. A
        /// storage decides by itself, and the end of a weak instance is invisible to waiters.
        var isExclusive: Bool {
            switch self {
            case .multiton, .boundedMultiton, .idleMultiton: true
            default: false
            }
        }
    }

    struct Service: Sendable {
        var sharing: Sharing
        /// The container of the world in which it is registered.
        var home: Int
        var takesArgument = false
        var isEager = false
        var isContribution = false
        var factory: [Step] = []
        var created: [Step]?
        var properties: [Step]?
        var disposed: [Step]?
    }

    struct Base: Sendable {
        var parent: Int?
        var fallbacks: [Int] = []
        /// The steps of a module when it is loaded.
        var loaded: [Step]?
    }

    struct Job: Sendable {
        var steps: [Step]
    }

    var bases: [Base]
    var services: [Service]
    var jobs: [Job]
    /// The share of the jobs that are cancelled.
    var cancelledShare: Double
    /// The highest number of steps: endless recursion must end.
    var budget = 1_500
}

extension Lifetime {
    fileprivate static let session = Lifetime("session", ownedBy: .registeringContainer)
    static var resettable: Lifetime { session }
}

// MARK: For people

extension Plan: CustomStringConvertible {
    var description: String {
        var lines: [String] = []
        for (index, base) in bases.enumerated() {
            let parent = base.parent.map { " in c\($0)" } ?? ""
            let fallbacks = base.fallbacks.isEmpty ? "" : ", falls back on \(base.fallbacks.map { "c\($0)" })"
            lines.append("container c\(index)\(parent)\(fallbacks)")
            if let loaded = base.loaded { lines.append("    loaded: \(Step.list(loaded))") }
        }
        for (index, service) in services.enumerated() {
            let traits =
                (service.takesArgument ? " of an argument" : "") + (service.isEager ? ", eager" : "")
                + (service.isContribution ? ", one of many" : "")
            lines.append("service s\(index): \(service.sharing)\(traits), in c\(service.home)")
            if !service.factory.isEmpty { lines.append("    factory: \(Step.list(service.factory))") }
            if let steps = service.properties { lines.append("    injectProperties: \(Step.list(steps))") }
            if let steps = service.created { lines.append("    onCreate: \(Step.list(steps))") }
            if let steps = service.disposed { lines.append("    onDispose: \(Step.list(steps))") }
        }
        for (index, job) in jobs.enumerated() { lines.append("task \(index): \(Step.list(job.steps))") }
        return lines.joined(separator: "\n")
    }
}

extension Step: CustomStringConvertible {
    static func list(_ steps: [Step]) -> String { steps.map(\.description).joined(separator: "; ") }

    /// The step without those inside it.
    var title: String {
        switch self {
        case .yield: "yield"
        case .fail(let failure): "fail(\(failure))"
        case .ask(let ask): "\(ask)"
        case .reset(let place, let what): "\(place).reset(\(what))"
        case .dispose(let place, let end): "\(place).dispose(\(end))"
        case .register(let place, let service): "\(place).register(s\(service))"
        case .unregister(let place, let service): "\(place).unregister(s\(service))"
        case .start(let place): "\(place).start()"
        case .openScope(let place, let slot): "slot\(slot) = \(place).openScope()"
        case .inScope(let place, let supplied, _):
            "\(place).withScope(\(supplied.map { "supplying s\($0)" } ?? ""))"
        case .leasing(let place, let service, let argument, _): "\(place).withInstance(s\(service), \(argument))"
        case .inGraph(let place, let slot, _): "\(place).withGraph(\(slot.map { "g\($0)" } ?? ""))"
        case .spawn(let spawning, _): "\(spawning)"
        case .tolerating: "try?"
        }
    }

    private var inner: [Step]? {
        switch self {
        case .inScope(_, _, let steps), .leasing(_, _, _, let steps), .inGraph(_, _, let steps), .spawn(_, let steps),
            .tolerating(let steps):
            steps
        default: nil
        }
    }

    var description: String {
        if case .tolerating(let steps) = self, steps.count == 1 { return "try? \(steps[0])" }
        return inner.map { "\(title) { \(Step.list($0)) }" } ?? title
    }
}

extension Step.Place: CustomStringConvertible {
    var description: String {
        switch self {
        case .here: "here"
        case .base(let index): "c\(index)"
        case .slot(let index): "slot\(index)"
        }
    }
}

extension Step.Ask: CustomStringConvertible {
    var description: String {
        let asked = place.map { "\($0)" } ?? "resolver"
        return switch way {
        case .callProvider, .callLazy: "\(way)"
        default: "\(asked).\(way)(s\(service), \(argument))"
        }
    }
}
