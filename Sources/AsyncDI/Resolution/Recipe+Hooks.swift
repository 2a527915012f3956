extension Recipe {
    /// Runs the hooks of an instance: properties first, so that `onCreate` sees the whole instance.
    nonisolated(nonsending) func runHooks(_ instance: Cell, in frame: Frame) async throws {
        let resolver = Resolver(frame)
        try await translatingCancellation(in: frame) {
            try await ResolutionContext.$frame.bind(frame) {
                if !blueprint.propertyHooks.isEmpty { frame.recorded?.allowsCycles = true }
                for hook in blueprint.propertyHooks { try await hook(resolver, instance, frame.pack) }
                for hook in blueprint.creationHooks { try await hook(resolver, instance, frame.pack) }
            }
        }
    }
}

/// Runs a factory or hooks; a `CancellationError` that they throw although nobody cancelled this task is a failure of
/// theirs, and must not be taken for the caller's own cancellation.
nonisolated(nonsending) func translatingCancellation<R: Sendable>(
    in frame: Frame, _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    do {
        return try await body()
    } catch {
        throw translated(error, in: frame)
    }
}

func translated(_ error: any Error, in frame: Frame) -> any Error {
    frame.recorded?.fail()
    guard error is CancellationError, !Task.isCancelled else { return error }
    return ResolutionError(
        .creationCancelled, "the factory of \(frame.recipe.key) threw CancellationError, but nobody cancelled it.",
        advice: "Look for a task that the factory cancels itself, and throw an error of your own instead.",
        steps: frame.path, asker: frame, underlying: error)
}
