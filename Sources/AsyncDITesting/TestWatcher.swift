import AsyncDI

/// Watches the container of one test case: its factories, and the uses of its registrations.
final class TestWatcher: ContainerInterceptor {
    /// A call that the container has refused after the end of the test.
    enum LateCall: Sendable {
        case request(ServiceKey)
        case scope(String)
    }

    /// A hook that threw, at the end of the test or where no caller got the error.
    typealias FailedHook = (call: InterceptedCall, error: any Error)

    private struct State {
        var used: Set<KnownRegistration> = []
        var instances: [WatchedInstance] = []
        var failedHooks: [FailedHook] = []
        /// The errors of other hooks, as texts.
        var expectedFailures: [String] = []
        var hasEnded = false
        var late: AsyncStream<LateCall>.Continuation?
    }

    private let watchesInstances: Bool
    private let state = Locked(State())

    init(watchesInstances: Bool) { self.watchesInstances = watchesInstances }

    /// No task is left that could use the container.
    deinit { state.withLock { $0.late }?.finish() }

    var wantedEvents: ContainerEvent.Kinds { [] }

    // MARK: Calls from the container

    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
        if call.kind == .factory { noteUse(of: call.key, at: call.site) }
    }

    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {
        guard watchesInstances, call.kind == .factory, let instance, type(of: instance) is AnyClass else { return }
        let watched = WatchedInstance(instance as AnyObject, call)
        state.withLock { $0.instances.append(watched) }
    }

    func didFail(_ call: InterceptedCall, with error: any Error) {
        guard call.kind == .disposalHook else { return }
        // Outside the lock: a description is user code.
        let text = "\(error)"
        // Before the end of the test, what a caller gets is for the test to expect.
        state.withLock { state in
            if state.hasEnded || !call.hasCaller {
                state.failedHooks.append((call, error))
            } else {
                state.expectedFailures.append(text)
            }
        }
    }

    func didRefuse(_ key: ServiceKey) { note(.request(key)) }

    func didRefuseScope(named name: String) { note(.scope(name)) }

    private func note(_ call: LateCall) {
        // A task that the test has cancelled is about to end.
        if Task.isCancelled { return }
        state.withLock { $0.hasEnded ? $0.late : nil }?.yield(call)
    }

    func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?) { noteUse(of: key, at: site) }

    /// A request has reached a registration.
    func noteUse(of key: ServiceKey, at site: RegistrationSite?) {
        state.withLock { _ = $0.used.insert(KnownRegistration(key: key, site: site)) }
    }

    // MARK: Calls at the end of the test

    func isUsed(_ entry: Registrations.Entry) -> Bool {
        state.withLock { $0.used.contains(KnownRegistration(key: entry.key, site: entry.site)) }
    }

    /// The place of a registration of this key that requests have reached.
    func siteUsed(for key: ServiceKey) -> RegistrationSite? {
        state.withLock { state in state.used.filter { $0.key == key }.compactMap(\.site).min { "\($0)" < "\($1)" } }
    }

    /// The test is over: all hooks that fail, and requests, are reported from now on.
    ///
    /// - Returns: The calls that are refused from now on; ends with the last reference to the container.
    func end() -> AsyncStream<LateCall> {
        let (stream, continuation) = AsyncStream<LateCall>.makeStream()
        state.withLock { state in
            state.hasEnded = true
            state.late = continuation
        }
        return stream
    }

    /// The errors that callers got before the end of the test, as texts.
    var expectedFailures: [String] { state.withLock { $0.expectedFailures } }

    /// Returns the hooks that have failed, once: their errors may hold instances.
    func takeFailedHooks() -> [FailedHook] {
        state.withLock { state in
            defer { state.failedHooks = [] }
            return state.failedHooks
        }
    }

    /// The watched instances that are alive, each once.
    var livingInstances: [WatchedInstance] {
        var seen: Set<ObjectIdentifier> = []
        return state.withLock { $0.instances }.filter { instance in
            guard let id = instance.identity else { return false }
            return seen.insert(id).inserted
        }
    }
}

/// A registration, by the properties that are known outside its container, which may have several for one key, one
/// after the other or in its scopes.
struct KnownRegistration: Hashable {
    let key: ServiceKey
    let site: RegistrationSite?
}

/// A weak reference to an instance, and its registration.
///
/// `@unchecked Sendable` because only the identity of the object is used, which was `Sendable` as a service; several
/// threads may read a weak reference.
struct WatchedInstance: @unchecked Sendable {
    private weak let object: AnyObject?
    let call: InterceptedCall

    init(_ object: AnyObject, _ call: InterceptedCall) {
        self.object = object
        self.call = call
    }

    /// Nil after the instance has gone.
    var identity: ObjectIdentifier? { object.map(ObjectIdentifier.init) }
}
