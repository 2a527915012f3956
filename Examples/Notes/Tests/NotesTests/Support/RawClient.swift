import NIOCore
import NIOPosix
import Synchronization

/// A client that sends bytes as they are, reads only when it is told to, and may leave at any moment.
final class RawClient: Sendable {
    private let channel: any Channel
    private let received: Received

    init(port: Int) async throws {
        let received = Received()
        self.received = received
        channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in channel.pipeline.addHandler(received) }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// Text that the server has sent so far.
    var text: String { received.text.withLock { $0 } }

    /// Sends text; a server that has closed the connection is not an error.
    func send(_ text: String) async { try? await channel.writeAndFlush(ByteBuffer(string: text)).get() }

    /// Reads from now on, until the server closes the connection; if it has closed it, everything is read already.
    func readToEnd() async {
        try? await channel.setOption(.autoRead, value: true).get()
        try? await channel.closeFuture.get()
    }

    /// Closes the connection, whatever is under way in it.
    func vanish() async { try? await channel.close().get() }

    private final class Received: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let text = Mutex("")

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text.withLock { $0 += String(buffer: unwrapInboundIn(data)) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension World {
    /// Connects to the server of a test that runs one.
    func connect() async throws -> RawClient {
        guard let port = client.port else { throw ChannelError.unknownLocalAddress }
        return try await RawClient(port: port)
    }
}
