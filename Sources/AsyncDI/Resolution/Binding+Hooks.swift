extension Binding {
    /// Runs the hooks of an instance: properties first, so that `onCreate` sees the whole instance.
    nonisolated(nonsending) func runHooks(_ instance: Cell, in run: Run) async throws {
        let resolver = Resolver(run)
        try await translatingCancellation(in: run) {
            try await ResolutionContext.$run.bind(run) {
                if !blueprint.propertyHooks.isEmpty { run.recorded?.allowsCycles = true }
                for hook in blueprint.propertyHooks { try await hook(resolver, instance, run.pack) }
                for hook in blueprint.creationHooks { try await hook(resolver, instance, run.pack) }
            }
        }
    }
}

/// Runs a factory or hooks; a `CancellationError` that they throw although nobody cancelled this task is a failure of
/// theirs, and must not be taken for the caller's own cancellation.
nonisolated(nonsending) func translatingCancellation<R: Sendable>(
    in run: Run, _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    do {
        return try await body()
    } catch {
        throw translated(error, in: run)
    }
}

func translated(_ error: any Error, in run: Run) -> any Error {
    run.recorded?.fail()
    guard error is CancellationError, !Task.isCancelled else { return error }
    return ResolutionError(
        .creationCancelled, "the factory of \(run.binding.key) threw CancellationError, but nobody cancelled it.",
        advice: "Look for a task that the factory cancels itself, and throw an error of your own instead.",
        steps: run.path, asker: run, underlying: error)
}
