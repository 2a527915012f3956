import Foundation
import Hummingbird

/// Answers of the requests about single notes.
package struct NoteHandlers: Sendable {
    private let notes: any NoteRepository

    package init(notes: any NoteRepository) { self.notes = notes }

    /// The latest notes: fewer than `limit` if they are long.
    ///
    /// `before` continues the list.
    func list(_ request: Request, bytes: Int = 256 * 1024) async throws -> [Note] {
        let query = request.uri.queryParameters
        let limit = try query["limit"].map { try Self.number($0, "limit") } ?? 20
        guard (1...100).contains(limit) else { throw NotesError.invalid("limit is 1 to 100") }
        let before = try query["before"].map { try Self.number($0, "before") }
        return try await notes.latest(Int(limit), bytes: bytes, before: before)
    }

    func note(_ id: Int64) async throws -> Note {
        guard let note = try await notes.note(id) else { throw NotesError.noSuchNote(id) }
        return note
    }

    func add(_ new: NewNote) async throws -> EditedResponse<Note> {
        if let problem = new.problem { throw NotesError.invalid(problem) }
        return try await EditedResponse(status: .created, response: notes.add(new, at: .now))
    }

    func remove(_ id: Int64) async throws -> HTTPResponse.Status {
        guard try await notes.remove(id) else { throw NotesError.noSuchNote(id) }
        return .noContent
    }

    private static func number(_ text: Substring, _ name: String) throws -> Int64 {
        guard let number = Int64(text) else { throw NotesError.invalid("\(name) is a number") }
        return number
    }
}

extension Note: ResponseEncodable {}
