extension Binding {
    /// Runs the hooks of an instance: properties first, so that `onCreate` sees the whole instance.
    nonisolated(nonsending) func runHooks(_ instance: Cell, in run: Run) async throws {
        let resolver = Resolver(run)
        do {
            try await run.call {
                if !blueprint.propertyHooks.isEmpty { run.recorded?.allowsCycles = true }
                for hook in blueprint.propertyHooks { try await hook(resolver, instance, run.pack) }
                for hook in blueprint.creationHooks { try await hook(resolver, instance, run.pack) }
            }
        } catch {
            throw translated(error, in: run)
        }
    }
}

/// The error of a factory or hook, for its requests.
///
/// A `CancellationError` that it throws although this task was not cancelled is a failure of its own, and must not be
/// taken for the caller's cancellation. So is one after it has cancelled this task, if that is the task of a shared
/// creation.
func translated(_ error: any Error, in run: Run) -> any Error {
    // The library's own: the requests start over.
    if error is CancellationError, run.creation?.extrasIfAny({ $0.isOvertaken }) == true { return error }
    run.recorded?.fail()
    let hasCancelledItself = Task.isCancelled && run.isInTaskOfUncancelledCreation
    guard error is CancellationError, !Task.isCancelled || hasCancelledItself else {
        // A hidden binding is the library's: its errors are those of the request.
        guard !run.binding.blueprint.isHidden, let error = error as? ResolutionError else { return error }
        return error.thrownByUserCode
    }
    return ResolutionError(
        .creationCancelled,
        "the factory, a hook or a decoration of \(run.binding.key) threw CancellationError, "
            + (hasCancelledItself ? "because it has cancelled its own task." : "although its task was not cancelled."),
        advice: "Look for a task that this code itself cancels, and throw your own error instead.",
        steps: run.path, asker: run, underlying: error)
}

extension Run {
    /// Whether this is the first run of a shared creation, in the creation's own task, which no request has cancelled.
    fileprivate var isInTaskOfUncancelledCreation: Bool {
        guard parent == nil, let holder, holder === activity else { return false }
        return holder.extrasIfAny { $0.isCancelled } != true
    }
}
