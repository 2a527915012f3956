/// The one disposal of a container: every call of `dispose` waits for it.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and state behind a lock.
final class Disposal: Completion, @unchecked Sendable {
    private struct State {
        /// Described only on request: most disposals are over before that.
        var current: (@Sendable () -> String)?
        /// The error of a scope that ended before its body.
        var interruption: ResolutionError?
        var hasRunHooks = false
    }

    /// The container above, which is disposed after this one.
    private let parent: ContainerCore?
    private let state = Locked(State())

    init(below parent: ContainerCore?) { self.parent = parent }

    /// The disposal of a container waits for its instances, and for the containers below it.
    override var outer: [Activity] { parent?.ends ?? [] }

    /// The object of the disposal's wait, for the error of a deadline.
    ///
    /// Described outside the lock: a qualifier's description is user code.
    var current: String? {
        let describe = state.withLock { $0.current }
        return describe?()
    }
    /// Notes the object of the next wait; kept until the wait after it, or the end.
    func isWaiting(for description: @autoclosure @escaping @Sendable () -> String) {
        state.withLock { $0.current = description }
    }
    func isWaitingForNothing() { state.withLock { $0.current = nil } }

    func isInterruption(_ error: ResolutionError) { state.withLock { $0.interruption = error } }
    func noteHooks() { state.withLock { $0.hasRunHooks = true } }
    /// The error of work that was lost although the body returned: its scope was disposed while the body ran.
    var lostWork: ResolutionError? { state.withLock { $0.hasRunHooks ? $0.interruption : nil } }
}
