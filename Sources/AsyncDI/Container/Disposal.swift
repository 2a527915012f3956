/// The one disposal of a container: every call of `dispose` waits for it.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and what is behind a lock.
final class Disposal: Completion, @unchecked Sendable {
    private struct State {
        /// Described only when somebody asks: most disposals are over before that.
        var current: (@Sendable () -> String)?
        /// Why the scope ended before its body did.
        var interruption: ResolutionError?
        var hasRunHooks = false
    }

    /// The container above, which cannot be disposed before this one is.
    private let parent: ContainerCore?
    private let state = Locked(State())

    init(below parent: ContainerCore?) { self.parent = parent }

    /// The disposal of a container waits for everything in it, and for those below it.
    override var isOpen: Bool { true }
    override var outer: [Activity] { parent?.ends ?? [] }

    /// What the disposal is waiting for, for the error of a deadline.
    ///
    /// Described outside the lock: a qualifier's description is user code.
    var current: String? {
        let describe = state.withLock { $0.current }
        return describe?()
    }
    /// What is waited for from now on; kept until the next wait, or the end.
    func isWaiting(for description: @autoclosure @escaping @Sendable () -> String) {
        state.withLock { $0.current = description }
    }
    func isWaitingForNothing() { state.withLock { $0.current = nil } }

    func isInterruption(_ error: ResolutionError) { state.withLock { $0.interruption = error } }
    func noteHooks() { state.withLock { $0.hasRunHooks = true } }
    /// Why a body's work was not completed although the body returned: its scope was disposed under it.
    var lostWork: ResolutionError? { state.withLock { $0.hasRunHooks ? $0.interruption : nil } }
}
