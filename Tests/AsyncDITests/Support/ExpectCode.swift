import AsyncDI
import Testing

/// Expects a ``ResolutionError`` with this code, and with this path if one is given.
@discardableResult
nonisolated(nonsending) func expect<R>(
    _ code: ResolutionError.Code, path: [String]? = nil, at location: SourceLocation = #_sourceLocation,
    _ body: nonisolated(nonsending) () async throws -> R
) async -> ResolutionError? {
    let error = await #expect(throws: ResolutionError.self, sourceLocation: location) { _ = try await body() }
    #expect(error?.code == code, sourceLocation: location)
    if let path { #expect(error?.path.map(\.description) == path, sourceLocation: location) }
    return error
}

/// The text of the error that a body throws.
nonisolated(nonsending) func message<R>(
    at location: SourceLocation = #_sourceLocation, of body: nonisolated(nonsending) () async throws -> R
) async -> String {
    let error = await #expect(throws: (any Error).self, sourceLocation: location) { _ = try await body() }
    return error.map { "\($0)" } ?? ""
}
