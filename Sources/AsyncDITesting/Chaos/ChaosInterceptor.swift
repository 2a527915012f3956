import AsyncDI

/// Suspends, delays and fails the factories and hooks of a container, by a plan.
final class ChaosInterceptor: ContainerInterceptor {
    private struct State {
        var record: ChaosRecord
        var counts: [String: Int] = [:]
        var hasFailedCalls = false
    }

    private let plan: ChaosPlan
    private let state: Locked<State>
    /// Notes the uses of registrations, where they are those of a test's container.
    private let watcher: TestWatcher?

    init(_ plan: ChaosPlan, resets: Bool, usesSeenBy watcher: TestWatcher?) {
        self.plan = plan
        self.watcher = watcher
        state = Locked(State(record: ChaosRecord(resets: resets)))
    }

    /// Returns the record at the end of the round: the interceptor lets go of the arguments in it.
    func takeRecord() -> ChaosRecord {
        state.withLock { state in
            defer { state.record = ChaosRecord() }
            return state.record
        }
    }

    /// Whether the plan has made a call throw, or cancelled it.
    var hasFailedCalls: Bool { state.withLock { $0.hasFailedCalls } }

    var wantedEvents: ContainerEvent.Kinds { [.created, .failed, .evicted, .disposed] }

    func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
        // The arguments of cached instances are hashable.
        let arguments = details.arguments.map { ($0 as? any Hashable).map { AnyHashable($0) } ?? AnyHashable("\($0)") }
        state.withLock { $0.record.happen(event, arguments: arguments, in: container.number) }
    }

    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
        state.withLock { $0.record.begin(call) }
        if call.kind == .factory { watcher?.noteUse(of: call.key, at: call.site) }
        // A disposal hook does its work first, so that the instance is closed.
        if call.kind != .disposalHook { try await inject(into: call) }
    }

    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {
        if call.kind == .factory { state.withLock { $0.record.noteReturn(of: call) } }
        let object = instance.flatMap { type(of: $0) is AnyClass ? ObjectIdentifier($0 as AnyObject) : nil }
        if let object {
            state.withLock { state in
                switch call.kind {
                case .factory: state.record.make(call.key, object)
                case .disposalHook: state.record.close(call, object)
                default: break
                }
            }
        }
        // An error is passed to `didFail`, where the call ends instead.
        if call.kind == .disposalHook { try await inject(into: call) }
        state.withLock { $0.record.end(call) }
    }

    func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?) { watcher?.noteUse(of: key, at: site) }

    func didFail(_ call: InterceptedCall, with error: any Error) {
        // A hook that fails by itself has run, too.
        state.withLock { $0.record.fail(call) }
    }

    private nonisolated(nonsending) func inject(into call: InterceptedCall) async throws {
        let name = "\(call)\(call.index == 0 ? "" : " \(call.index)")"
        let number = state.withLock { state in
            state.counts[name, default: 0] += 1
            return state.counts[name, default: 0]
        }
        guard let (fault, size) = plan.fault(name, number: number) else { return }
        if fault == .isCancelled, call.kind == .disposalHook { return }
        let text = "\(name) #\(number)"
        state.withLock { state in
            state.record.inject("\(text): \(fault.rawValue)", into: call, isError: fault == .throwsError)
            if fault == .throwsError || fault == .isCancelled { state.hasFailedCalls = true }
        }
        switch fault {
        case .suspends: for _ in 0..<size { await Task.yield() }
        // A task that is cancelled is not slow.
        case .isSlow: try? await Patience.clock.sleep(for: .milliseconds(size))
        case .throwsError: throw ChaosError(call: text)
        case .isCancelled:
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
    }
}
