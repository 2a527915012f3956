/// What the current task is in the middle of.
enum ResolutionContext {
    /// The run of a factory or hook that this task, or the task that started it, is in.
    @TaskLocal static var frame: Frame?

    static let peek = TaskLocalPeek($frame)

    /// The run that a request made now belongs to, if it still goes on.
    static var activeFrame: Frame? {
        guard let frame, frame.isActive else { return nil }
        return frame
    }
}
