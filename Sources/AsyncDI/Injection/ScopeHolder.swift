/// Keeps a scope open as long as a view is shown, or a controller lives.
final class ScopeHolder: Sendable {
    let scope: Container

    init(_ scope: Container) { self.scope = scope }

    // What goes wrong in disposal is told to the container's observers.
    deinit { Task.detached { [scope] in try? await scope.dispose() } }
}

extension Container {
    /// Opens a scope of this container, hands it over, and disposes it once the task is cancelled.
    ///
    /// - Parameters:
    ///   - registrations: What is added or overridden in the scope.
    ///   - body: Gets the scope while it is open, and nil when it is about to be disposed.
    /// - Throws: ``ResolutionError`` with the code `disposed`; ``DisposalError``.
    nonisolated(nonsending) func holdScope(
        registrations: () -> Registrations, _ body: (Container?) -> Void
    ) async throws {
        let scope = try await openScope(registrations: registrations)
        body(scope)
        // Ends when the task is cancelled, and only then.
        let never = AsyncStream<Never> { _ in }
        for await _ in never {}
        body(nil)
        try await scope.dispose()
    }
}
