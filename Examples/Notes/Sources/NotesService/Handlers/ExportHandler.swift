import Foundation
import Hummingbird

/// Streams every note of a tenant as a line of JSON.
package struct ExportHandler: Sendable {
    private let notes: any NoteRepository

    package init(notes: any NoteRepository) { self.notes = notes }

    /// The response, whose body reads a page of notes at a time while it is written.
    ///
    /// Each page is a read of its own. A note that is added meanwhile may come along; none comes twice.
    func export(pageSize: Int = 200, pageBytes: Int = 256 * 1024) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { [notes] writer in
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                var last: Int64 = 0
                while true {
                    try Task.checkCancellation()
                    let page = try await notes.page(of: pageSize, bytes: pageBytes, after: last)
                    guard let end = page.last else { break }
                    var lines = ByteBuffer()
                    for note in page {
                        lines.writeBytes(try encoder.encode(note))
                        lines.writeInteger(UInt8(ascii: "\n"))
                    }
                    try await writer.write(lines)
                    last = end.id
                }
                try await writer.finish(nil)
            })
    }
}
