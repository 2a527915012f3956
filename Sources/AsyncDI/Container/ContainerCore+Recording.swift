/// Recording of requests between services.
extension ContainerCore {
    /// The container's name, `root` without one, and `scope of` the container that a scope is opened in.
    ///
    /// Scopes have no names of their own here, so that a thousand requests are one box in a graph.
    var ownerLabel: String {
        guard let parent else { return name ?? "root" }
        if isScope { return "scope of \(parent.ownerLabel)" }
        return name ?? "child of \(parent.ownerLabel)"
    }

    var recorders: [Recorder] {
        guard Recorder.isAnyRunning else { return [] }
        return lineage.compactMap { core in core.withState { $0.recorder } }.filter(\.isRunning)
    }

    /// The records of a recording; nil without one.
    var records: Recorder.Records? { withState { $0.recorder }?.records }

    /// Begins a recording, which replaces the previous one.
    func startRecording() {
        let recorder = Recorder()
        withState { exchange(&$0.recorder, with: recorder) }?.stop()
    }

    /// Ends the recording; its records remain.
    func stopRecording() { withState { $0.recorder }?.stop() }
}
