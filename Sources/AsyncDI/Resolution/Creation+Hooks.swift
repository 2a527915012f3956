import Synchronization

/// The hooks of a graph instance that was requested inside another one.
extension Creation {
    /// Runs the hooks of a graph creation in a task of their own, and ends the creation.
    func launchHooks(of instance: Cell, in run: Run, endingWith factoryRun: Run) {
        let priority = Task.currentPriority
        self.priority.max(priority.rawValue, ordering: .relaxed)
        let hooks = Completion()
        _ = extras { $0.hooks = hooks }
        let task = Task(priority: priority) { @concurrent in
            let result: Result<Cell, any Error>
            do {
                try await self.binding.runHooks(instance, in: run)
                result = .success(instance)
            } catch {
                result = .failure(error)
            }
            run.end()
            factoryRun.end()
            self.settle(result, in: run)
            self.endHooks()
        }
        adopt(task, launchedWith: priority)
    }

    private func endHooks() {
        extrasIfAny { $0.hooks.take() }?.finish()
    }

    /// Waits for the end of hooks that were cancelled with their last request, unless they wait for that request.
    nonisolated(nonsending) func cancelledHooksEnd(before asker: Run) async {
        guard let hooks = extrasIfAny({ $0.isCancelled ? $0.hooks : nil }) else { return }
        let suspension = Suspension()
        defer { Waits.end(suspension) }
        if let caller = host.caller(of: asker), Waits.begin(suspension, from: caller, for: hooks) != nil { return }
        _ = await hooks.wait(atMost: nil, clock: ContinuousClock())
    }
}
