/// The run that the current task is in.
enum ResolutionContext {
    /// The run of a factory or hook that this task, or the task that started it, is in.
    @TaskLocal static var run: Run?

    /// The run that a request made now belongs to, if that run has not ended.
    static var activeRun: Run? {
        guard let run, run.isActive else { return nil }
        return run
    }
}
