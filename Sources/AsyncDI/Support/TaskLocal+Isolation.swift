extension TaskLocal {
    /// Binds the task-local for a body that runs in the caller's isolation.
    ///
    /// `withValue` takes a plain asynchronous closure, which in a `nonisolated(nonsending)` function would leave the
    /// caller's executor: two thread hops. A closure that captures an `isolated` parameter stays.
    ///
    /// - Returns: The result of the body.
    func bind<R>(
        _ value: Value, isolation: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R where Value: Sendable {
        // Unsafe because `withValue` cannot express that the result was received as `sending` and that no other code
        // uses it on its way out.
        nonisolated(unsafe) let result = try await withValue(value) {
            _ = isolation
            return try await body()
        }
        return result
    }
}
