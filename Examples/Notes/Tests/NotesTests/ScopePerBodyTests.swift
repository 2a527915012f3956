import AsyncDI
import Hummingbird
import NIOCore
import Testing

@testable import NotesComposition

@Suite(.timeLimit(.minutes(1)))
struct ScopePerBodyTests {
    private final class Work: Sendable {}
    private struct Broken: Error {}

    /// Opens a scope with some work for the body of a response, and returns the error with which the work ended.
    private func end(
        of body: ResponseBody, _ use: (consuming Response) async throws -> Void
    ) async throws -> (any Error)? {
        let (ends, continuation) = AsyncStream<(any Error)?>.makeStream()
        let container = Container {
            Registration(Work.self, lifetime: .scoped) { _ in Work() }
                .onDispose { _, reason in continuation.yield(reason.error) }
        }
        // Only the response holds the scope.
        func response() async throws -> Response {
            let scope = try OwnedScope(in: container)
            _ = try await scope.container.resolve(Work.self)
            return scope.lasting(through: Response(status: .ok, body: body))
        }
        try await use(response())
        let end = try #require(await ends.first { _ in true })
        try await container.dispose()
        return end
    }

    @Test
    func `a body that was written ends it well`() async throws {
        let error = try await end(of: ResponseBody(byteBuffer: ByteBuffer(string: "x"))) { response in
            try await response.body.write(CollectingWriter())
        }
        #expect(error == nil)
    }

    @Test
    func `a body that fails ends it with the body's error`() async throws {
        let error = try await end(of: ResponseBody { _ in throw Broken() }) { response in
            let body = response.body
            await #expect(throws: Broken.self) { try await body.write(CollectingWriter()) }
        }
        #expect(error is Broken)
    }

    @Test
    func `a body that is dropped ends it with an error`() async throws {
        let error = try await end(of: ResponseBody()) { _ in }
        #expect((error as? ResolutionError)?.code == .disposed)
    }
}
