/// The calls of interceptors before and after one factory or hook; the first interceptor is outermost.
struct Interception: Sendable {
    /// The calls of one interceptor.
    struct Calls: Sendable {
        let willRun: nonisolated(nonsending) @Sendable () async throws -> Void
        let didRun: nonisolated(nonsending) @Sendable ((any Sendable)?) async throws -> Void
        let didFail: @Sendable (any Error) -> Void
    }

    let calls: [Calls]

    /// Runs the factory or hook.
    ///
    /// - Parameters:
    ///   - instance: The instance of the result, for the interceptors.
    ///   - body: The factory or hook.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or of an interceptor in its place.
    nonisolated(nonsending) func run<R>(
        _ instance: (borrowing R) -> (any Sendable)?, _ body: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R {
        // The interceptors whose calls have begun and not ended.
        var entered = 0
        do {
            for one in calls {
                entered += 1
                try await one.willRun()
            }
            // Unsafe because a `do` cannot express that the result was received as `sending` and that no other code
            // uses it on its way out.
            nonisolated(unsafe) let result = try await body()
            let instance = instance(result)
            for one in calls.reversed() {
                try await one.didRun(instance)
                entered -= 1
            }
            return result
        } catch {
            // Interceptors may keep the error, whose runs keep this container, and with it them.
            let told = ResolutionError.withoutOrigins(error)
            for one in calls.prefix(entered).reversed() { one.didFail(told) }
            throw error
        }
    }
}
