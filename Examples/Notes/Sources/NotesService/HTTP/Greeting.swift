import Foundation
import NIOCore

/// Text that explains how to use the service.
package struct Greeting {
    private let address: SocketAddress?
    private let settings: Settings

    package init(address: SocketAddress?, settings: Settings) {
        self.address = address
        self.settings = settings
    }

    /// Prints the text at once, also into a pipe.
    ///
    /// The service runs on when the output is closed or full.
    package func print(to output: FileHandle = .standardOutput) {
        try? output.write(contentsOf: Data(text.utf8))
    }

    package var text: String {
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        let base = "http://\(host):\(address?.port ?? settings.port)"
        return """
            Notes listens at \(base), its data is in \(settings.directory.path).

              curl -X PUT \(base)/tenants/acme
              curl \(base)/tenants/acme/notes -d '{"title": "Milk", "text": "Two bottles"}'
              curl \(base)/tenants/acme/notes
              curl \(base)/tenants/acme/batch -d '[{"title": "a", "text": ""}, {"title": "", "text": "refused"}]'
              curl \(base)/tenants/acme/export
              curl \(base)/ready

            """
    }
}
