import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NotesComposition
import NotesService
import Synchronization

/// A writer of a response body that keeps its bytes, up to a capacity.
final class CollectingWriter: ResponseBodyWriter, Sendable {
    /// Error of a connection whose client has vanished.
    struct Gone: Error {}

    private let state = Mutex((text: "", largest: 0, isFinished: false))
    private let capacity: Int

    init(capacity: Int = .max) { self.capacity = capacity }

    var text: String { state.withLock { $0.text } }
    /// Size of the largest buffer, in bytes.
    var largest: Int { state.withLock { $0.largest } }
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func write(_ buffer: ByteBuffer) throws {
        try state.withLock { state in
            state.text += String(buffer: buffer)
            state.largest = max(state.largest, buffer.readableBytes)
            if state.text.utf8.count > capacity { throw Gone() }
        }
    }

    func finish(_ trailingHeaders: HTTPFields?) { state.withLock { $0.isFinished = true } }
}

/// A writer of a response body that keeps nothing.
struct DiscardingWriter: ResponseBodyWriter {
    /// Opened by the first write.
    let hasBegun = Gate()

    func write(_ buffer: ByteBuffer) { hasBegun.open() }
    func finish(_ trailingHeaders: HTTPFields?) {}
}

extension World {
    /// The response to an export, whose body has not been written yet.
    func exportResponse(of tenant: String = "acme") async throws -> Response {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/tenants/\(tenant)/export"),
            body: RequestBody(buffer: ByteBuffer()))
        var logger = Logger.quiet
        logger[metadataKey: "hb.request.id"] = "export"
        let context = NotesContext(source: .init(channel: EmbeddedChannel(), logger: logger))
        return try await app.responder().respond(to: request, context: context)
    }
}
