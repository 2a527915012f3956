/// The run that the current task is in.
enum ResolutionContext {
    /// The run of a factory or hook that this task, or the task that started it, is in.
    @TaskLocal static var run: Run?

    static let peek = TaskLocalPeek($run)

    /// The run that a request made now belongs to, if that run has not ended.
    static var activeRun: Run? {
        guard let run = peek.object, run.isActive else { return nil }
        return run
    }
}
