extension Container {
    /// Closes everything that the container opened, and waits for it.
    ///
    /// From this moment `resolve` and `register` throw `disposed`. Open scopes go first; creations in flight are cancelled and
    /// awaited; then instances are disposed in the reverse order of their completion, each once. Runs to the end even in a
    /// cancelled task. A second call waits for the first one; after it, `dispose()` returns quietly. An `onDispose` hook
    /// that disposes its own container returns at once.
    ///
    /// - Throws: ``DisposalError`` with everything that hooks threw; ``ResolutionError`` with the code `invalidOperation` when a
    ///   factory of this container calls it.
    public func dispose() async throws {
        try await core.dispose()
    }

    /// Closes everything that the container opened, and waits for it, but not longer than the deadline.
    ///
    /// - Parameter deadline: How long to wait, by the container's clock. Disposal goes on afterwards.
    /// - Throws: ``DisposalError``, which names what has not ended by then.
    public func dispose(deadline: Duration) async throws {
        try await core.dispose(deadline: deadline)
    }
}
