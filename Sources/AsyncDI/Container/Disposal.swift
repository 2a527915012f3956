/// The only disposal of a container; every call of `dispose` waits for it.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and state behind a lock.
final class Disposal: Completion, @unchecked Sendable {
    private struct State {
        var subject: Subject?
        /// The error of a scope that ended before its body.
        var interruption: ResolutionError?
        var hasRunHooks = false
        var interruptsWork = false
        var stopped: StoppedCreations = ([], [])
        var queuesBelow: [ObjectIdentifier: WeakEventQueue] = [:]
    }

    /// The creations that a disposal stops, and the requests that wait for them.
    typealias StoppedCreations = (waiters: [Waiter], flights: [Creation])

    /// The object of a disposal's wait, for the error of a deadline.
    enum Subject {
        /// A container below, and its name. Weak because it would keep this disposal through its parent.
        case container(String, WeakCore)
        case creations(of: [CreationKey])
        case storages
        case leases(of: CreationKey)
        case hooks(of: CreationKey)
        /// The leases of instances that have no disposal of their own.
        case allLeases

        /// The innermost wait among containers below, each of which waits for the next one: its object as text, and the
        /// creations or instances that it is for.
        ///
        /// - Parameter core: The container that is being disposed.
        /// - Returns: The object as text, and the keys.
        func facts(in core: ContainerCore) -> (text: String, keys: [CreationKey]) {
            switch self {
            case .container(let name, let below): return Self.facts(below: name, below.core)
            case .creations(let keys): return ("the creation of " + Self.list(keys), keys)
            case .storages: return ("the clearing of a storage", [])
            case .leases(let key): return ("the last lease of \(key)", [key])
            case .hooks(let key):
                let keys = [key] + core.keysBeingClosed.filter { $0 != key }
                return ("the onDispose of " + Self.list(keys), keys)
            case .allLeases:
                let keys = core.leasedKeys
                if !keys.isEmpty { return ("the last lease of " + Self.list(keys), keys) }
                // When the last lease has just ended, the disposals of the leased instances remain.
                let closing = core.keysBeingClosed
                let subject = closing.isEmpty ? "the disposal of evicted, reset or replaced instances" : nil
                return (subject ?? "the onDispose of " + Self.list(closing), closing)
            }
        }

        private static func facts(below name: String, _ core: ContainerCore?) -> (text: String, keys: [CreationKey]) {
            var (name, next) = (name, core)
            while let core = next, let subject = core.disposalUnderWay?.subject {
                guard case .container(let inner, let below) = subject else {
                    let (text, keys) = subject.facts(in: core)
                    return ("\(text) in \(name)", keys)
                }
                (name, next) = (inner, below.core)
            }
            return (name, [])
        }

        /// The keys, sorted; of many, the first ones.
        static func list(_ keys: [CreationKey]) -> String {
            // Not all are described: there may be thousands.
            let (names, most) = (keys.prefix(100).map(\.description).sorted(), 5)
            return names.prefix(most).joined(separator: ", ")
                + (keys.count > most ? " and \(keys.count - most) more" : "")
        }
    }

    /// The parent container, which is disposed after this one.
    ///
    /// Not a constant, so that it can be released in turn at the end; nothing else changes it.
    private let parentReference: AtomicReference<ContainerCore>
    private let state = Locked(State())
    /// The body of the scope, which knows the leases of the scope's instances.
    private let body = AtomicReference<ScopeBody>()
    // The call that waits for the disposal from its beginning, if the graph of waits does not contain it.
    private let begunIn: PassingReference<Activity>
    private let begunBy: PassingReference<Run>

    init(below parent: ContainerCore?, begunBy caller: Caller? = nil) {
        parentReference = AtomicReference(parent)
        begunIn = PassingReference(caller?.activity)
        begunBy = PassingReference(caller?.run)
    }

    // Scopes may be nested very deep.
    deinit { releaseInTurn(parentReference.takeAtEnd()) }

    override var beginner: Caller? { begunIn.load().map { Caller(activity: $0, run: begunBy.load()) } }

    /// Releases the call that began the disposal, after its end.
    ///
    /// Not to be called under a lock.
    func forgetBeginner() {
        begunIn.giveUp()
        begunBy.giveUp()
    }

    /// The parent's disposal and those above it, because a disposal waits for the containers below; and the disposals
    /// of instances that are leased in a scope until its own instances are disposed.
    override var outer: [Activity] {
        (parentReference.object?.ends ?? []) + (body.object?.disposalsAwaitingLeases ?? [])
    }

    /// Notes that the disposal ends the leases of a scope's instances.
    func noteLeases(of body: ScopeBody) { _ = self.body.loadOrInitialize { body } }

    /// The object of the current wait.
    ///
    /// Described outside the lock: a qualifier's description is user code.
    var subject: Subject? { state.withLock { $0.subject } }

    /// Notes the object of the next wait, or nil after the last one, and whether hooks begin to run.
    func noteWait(for subject: Subject?, beginsHooks: Bool = false) {
        let old = state.withLock { state in
            if beginsHooks { state.hasRunHooks = true }
            return exchange(&state.subject, with: subject)
        }
        // Released outside the lock: it may have the last reference to an argument.
        withExtendedLifetime(old) {}
    }

    /// Notes the creations to stop, in the step in which the disposal begins: from then on, their instances reach no
    /// request.
    func noteStopped(_ stopped: StoppedCreations) { state.withLock { $0.stopped = stopped } }

    /// Returns the creations to stop, once.
    func takeStopped() -> StoppedCreations { state.withLock { exchange(&$0.stopped, with: ([], [])) } }

    /// Notes that hooks receive an error, although no body of the container's own has ended.
    func noteInterruptedWork() { state.withLock { $0.interruptsWork = true } }

    /// Whether such hooks have begun to run, here or in a container below.
    var hasInterruptedWork: Bool { state.withLock { $0.hasRunHooks && $0.interruptsWork } }

    /// Notes that the work of a container below, which is part of this one's, has been ended.
    func noteHooksBelow() { state.withLock { $0.hasRunHooks = true } }

    /// The event queues of the disposed containers below that have observers of their own.
    ///
    /// Weak because an observer may refer to this container; a queue that has events to deliver keeps itself.
    var queuesBelow: [EventQueue] { state.withLock { $0.queuesBelow.values.compactMap(\.queue) } }

    /// Notes the observers of a container below, which this disposal has ended, and those below that one.
    func noteObservers(of child: ContainerCore) {
        let below = child.disposalUnderWay?.queuesBelow ?? []
        // A scope has the observers of its parent.
        let queues = below + (child.isScope ? [] : [child.events].compactMap(\.self))
        if queues.isEmpty { return }
        state.withLock { state in
            for queue in queues { state.queuesBelow[ObjectIdentifier(queue)] = WeakEventQueue(queue: queue) }
        }
    }

    func noteInterruption(_ error: ResolutionError) { state.withLock { $0.interruption = error } }
    /// The error of work that was lost although the body returned: its scope was disposed while the body ran.
    var lostWork: ResolutionError? { state.withLock { $0.hasRunHooks ? $0.interruption : nil } }
}
