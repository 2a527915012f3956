extension TaskLocal {
    /// Binds the task-local for a body that runs in the caller's isolation.
    ///
    /// `withValue` takes a plain asynchronous closure, which in a `nonisolated(nonsending)` function would leave the caller's
    /// executor: two thread hops. A closure that captures an `isolated` parameter stays.
    ///
    /// - Returns: What the body returns. It was received as `sending` and is touched by nothing on its way out, which
    ///   `withValue` cannot express: hence `nonisolated(unsafe)`.
    func bind<R>(
        _ value: Value, isolation: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R where Value: Sendable {
        nonisolated(unsafe) let result = try await withValue(value) {
            _ = isolation
            return try await body()
        }
        return result
    }
}
