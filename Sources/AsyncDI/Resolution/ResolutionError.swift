/// The reason why a request, a registration or a container operation failed, with advice.
///
/// Compare the ``code``, or catch one kind by its pattern:
/// ```swift
/// do {
///     return try await container.resolve((any Database).self)
/// } catch ResolutionError.Code.notRegistered {
///     return InMemoryDatabase()
/// }
/// ```
/// An error that a factory throws itself is not wrapped: it reaches the caller unchanged.
public struct ResolutionError: Error, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// New kinds may be added: a `switch` over codes needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ name: String) { description = name }

        /// The key is not registered, or is expected of each scope and not supplied.
        public static let notRegistered = Code("notRegistered")
        /// The service is registered, but with other argument types.
        public static let argumentMismatch = Code("argumentMismatch")
        /// A service depends on itself.
        public static let circularDependency = Code("circularDependency")
        /// A long-lived service would hold an instance of a shorter-lived scope.
        public static let captiveDependency = Code("captiveDependency")
        /// The key is registered already, in a container that rejects duplicates.
        public static let duplicateRegistration = Code("duplicateRegistration")
        /// The registration contradicts itself.
        public static let invalidRegistration = Code("invalidRegistration")
        /// An instance is not of the type that it was declared to implement.
        public static let typeMismatch = Code("typeMismatch")
        /// The container is disposed, is being disposed, was released, or is draining and refuses new work.
        public static let disposed = Code("disposed")
        /// A factory, hook, decoration or module threw `CancellationError`, although its task was not cancelled.
        public static let creationCancelled = Code("creationCancelled")
        /// No container is current.
        public static let noCurrentContainer = Code("noCurrentContainer")
        /// The instance was requested synchronously, but has not been created yet.
        public static let notReady = Code("notReady")
        /// An argument cannot be part of a cache key: it is not equal to itself, like `Double.nan`.
        public static let invalidArgument = Code("invalidArgument")
        /// A disposal had not ended by its deadline.
        public static let disposalTimedOut = Code("disposalTimedOut")
        /// A service resolved another one that its registration does not declare.
        public static let undeclaredDependency = Code("undeclaredDependency")
        /// The call would wait for itself, such as a factory that disposes its own container; or it cannot be carried
        /// out, such as a lease of an array.
        public static let invalidOperation = Code("invalidOperation")
    }

    /// The kind of the error.
    public let code: Code
    /// The services that led here, outermost first; the last one failed.
    ///
    /// Where a cycle of properties failed as a whole, its members between the requested one and the failed one are left
    /// out.
    public var path: [ServiceKey] { steps.map(\.key) }
    /// The source locations of the services in the ``path``, nil for one that is not registered.
    public var sites: [RegistrationSite?] { steps.map(\.site) }
    /// The error that caused this one, if any.
    public internal(set) var underlying: (any Error)?

    /// The failure in a sentence; the ``description`` also has the path and the advice.
    public let message: String
    /// The advice in a sentence or two, if there is any.
    public let advice: String?
    private var wholePath: ErrorPath<PathStep>
    /// Whether the path ends where its cycle does; otherwise the arguments of its steps tell.
    private var endsWithCycle = false
    /// Whether steps with one key are the same in a path that closes a cycle, even if a registration has replaced the
    /// other.
    private var comparesKeys = false
    /// The outermost run of the chain that `steps` began in when the error arose: tells waiters whether to prepend
    /// their own.
    private var origin: Run?
    /// The creation whose waiters are to prepend their own path: by identity, for the creation keeps its error.
    private var delivery: Delivery?
    /// The failed creation that keeps the error, whose path begins there; by identity, as in a delivery.
    private var keptBy: ObjectIdentifier?

    /// The number of the container that was asked for a value which its scopes supply; nil for any other error.
    var unsuppliedIn: UInt64?
    /// Whether a factory or hook threw it: then it is no error of the request for that factory's service.
    private(set) var isOfUserCode = false

    /// The state with which a failed creation passes its error on.
    private struct Delivery {
        /// By identity, because the creation keeps its error.
        ///
        /// No other creation's address is mistaken for it: the error is given to its waiters, which hold the creation,
        /// and to creations that fail with it, which were there when it was.
        let creation: ObjectIdentifier
        /// The creation's run: the runs outside it in its task are not part of its waiters' paths.
        let run: Run
    }

    init(
        _ code: Code, _ message: String, advice: String? = nil, steps: [PathStep] = [], asker: Run? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        wholePath = ErrorPath(steps)
        self.origin = asker?.root
        self.underlying = underlying
    }

    /// The path, as far as it is known; one that closes a cycle ends where the cycle does.
    var steps: [PathStep] {
        var steps = wholePath.steps
        if comparesKeys {
            steps = steps.map { PathStep(key: $0.key, pack: $0.pack, site: $0.site) }
        }
        let path = code == .circularDependency && !endsWithCycle ? steps.upToFirstRepetition : steps
        guard let delivery, delivery.run.parent != nil, isOfChain(of: delivery.run) else { return path }
        return Array(path.dropFirst(delivery.run.path.count - 1))
    }

    /// The message of a cycle whose service the path names.
    static let cycleMessage = "a service depends on itself."

    /// The message, the path and the advice.
    public var description: String {
        let steps = steps
        var text = "\(code): "
        // A path that a waiter's own steps were put in front of closes at another service than it did first.
        text +=
            message == Self.cycleMessage
            ? "\(steps.last?.key.description ?? "a service") depends on itself." : message
        if steps.count > 1 {
            text += " Path: " + steps.map(\.description).joined(separator: " → ") + "."
        } else if let site = steps.first?.site {
            text += " Registered at \(site)."
        }
        if let advice { text += " " + advice }
        return text
    }

    /// The same error where the path is known better.
    func at(_ steps: [PathStep]) -> ResolutionError { changed { $0.wholePath = ErrorPath(steps) } }

    /// The same error where registrations have replaced one another.
    var betweenReplacements: ResolutionError { changed { $0.comparesKeys = true } }

    /// The same error, thrown by a factory or hook.
    var thrownByUserCode: ResolutionError { changed { $0.isOfUserCode = true } }

    private func changed(_ change: (inout ResolutionError) -> Void) -> ResolutionError {
        var error = self
        change(&error)
        return error
    }

    /// The same error, or errors of a disposal, which keep no run, registration or argument alive: those lead to
    /// instances and containers.
    static func withoutOrigins(_ error: any Error) -> any Error {
        if let error = error as? ResolutionError { return error.withoutOrigin }
        if let error = error as? DisposalError { return error.withoutOrigins }
        if let error = error as? HookError {
            return HookError(service: error.service, error: withoutOrigins(error.error))
        }
        return error
    }

    /// The same error, as a failed creation keeps it for those that fail with it, or that ask for its failure later.
    static func kept(_ error: any Error) -> any Error {
        guard let error = error as? ResolutionError else { return withoutOrigins(error) }
        var kept = error.withoutOrigin
        kept.keptBy = error.failedCreation
        return kept
    }

    /// The creation at which the path begins, if its waiters are to prepend their own.
    private var failedCreation: ObjectIdentifier? {
        if let delivery, isOfChain(of: delivery.run) { delivery.creation } else { keptBy }
    }

    private var withoutOrigin: ResolutionError {
        var error = self
        error.underlying = underlying.map(Self.withoutOrigins)
        error.origin = nil
        (error.delivery, error.keptBy) = (nil, nil)
        error.wholePath = ErrorPath(steps.map { PathStep(key: $0.key, site: $0.site) })
        error.endsWithCycle = true
        return error
    }

    /// The error as the waiters of a creation see it: its path begins at that creation.
    ///
    /// The path itself is left alone until there is a waiter: mostly there is none, in a task that creates one instance
    /// inside another.
    func relative(to creation: Creation, in run: Run) -> ResolutionError {
        guard origin != nil else { return self }
        var error = self
        error.delivery = Delivery(creation: ObjectIdentifier(creation), run: run)
        return error
    }

    /// The error as the waiter that made the request in `asker` sees it: its path begins where that task's chain does.
    func delivered(by creation: Creation, to asker: Run?) -> ResolutionError {
        var error = self
        (error.delivery, error.keptBy) = (nil, nil)
        guard let failedCreation else { return error }
        if let delivery, delivery.run.parent != nil { error.wholePath = ErrorPath(steps) }
        error.origin = nil
        if failedCreation != ObjectIdentifier(creation) {
            // Another creation of the cycle failed, and this one with it.
            let step = PathStep(key: creation.key.binding.key, binding: creation.key.binding, pack: creation.pack)
            let steps = error.wholePath.steps
            // A kept path has neither registrations nor arguments.
            let isSame = { (other: PathStep) in
                keptBy == nil ? step.isSame(as: other) : step.key == other.key && step.site == other.site
            }
            if code != .circularDependency, let place = steps.lastIndex(where: isSame) {
                error.wholePath = ErrorPath(Array(steps[place...]))
            } else {
                error.wholePath.prepend([step])
            }
        }
        error.wholePath.prepend(asker?.path ?? [])
        error.origin = asker?.root
        return error
    }

    /// Whether the path begins where the chain of a run does: an error of a task that outlives its creation has a path
    /// of its own.
    private func isOfChain(of run: Run) -> Bool {
        guard let origin else { return false }
        return origin === run.root
    }
}

/// Matches an error by its code, so that `catch ResolutionError.Code.disposed` works.
///
/// - Parameters:
///   - code: The code to match.
///   - error: Any error.
/// - Returns: Whether the error is a ``ResolutionError`` with that code.
public func ~= (code: ResolutionError.Code, error: any Error) -> Bool {
    (error as? ResolutionError)?.code == code
}
