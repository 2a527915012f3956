import AsyncDI
import Hummingbird
import Synchronization

/// A scope that lasts until the body of a response has been written.
///
/// It ends well after the body's last byte, and with an error when the body fails or is dropped unused. It is not the
/// current scope of any task, so everything is resolved from it.
final class BodyScope: Sendable {
    let scope: Container
    private let hasEnded = Atomic(false)

    init(in container: Container, _ registrations: Registrations) async throws {
        scope = try await container.openScope { registrations }
    }

    /// Returns the response with a body that ends the scope.
    func lasting(through response: Response) -> Response {
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            do { try await body.write(writer) } catch { throw await self.failed(error) }
            try await self.end { try await $0.dispose() }
        }
        return response
    }

    /// Ends the scope and returns the error that ended it.
    func failed(_ error: any Error) async -> any Error {
        try? await end { try await $0.dispose(failing: error) }
        return error
    }

    private func end(_ disposal: (Container) async throws -> Void) async throws {
        if !hasEnded.exchange(true, ordering: .relaxed) { try await disposal(scope) }
    }

    deinit {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        Task { [scope] in try? await scope.dispose(failing: BodyWasDropped()) }
    }
}

/// Error that ends the scope of a body which nobody wrote.
struct BodyWasDropped: Error {}
