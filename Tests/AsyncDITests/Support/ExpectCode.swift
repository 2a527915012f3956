import AsyncDI
import Testing

/// Expects a ``ResolutionError`` with this code.
@discardableResult
nonisolated(nonsending) func expect<R>(
    _ code: ResolutionError.Code, at location: SourceLocation = #_sourceLocation,
    _ body: nonisolated(nonsending) () async throws -> R
) async -> ResolutionError? {
    let error = await #expect(throws: ResolutionError.self, sourceLocation: location) { _ = try await body() }
    #expect(error?.code == code, sourceLocation: location)
    return error
}
