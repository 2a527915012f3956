import Foundation
import GRDB

/// Notes in the `note` table of a tenant's database.
package struct SQLNoteRepository: NoteRepository {
    private let work: UnitOfWork

    package init(work: UnitOfWork) { self.work = work }

    package func latest(_ count: Int, bytes: Int, before id: Int64?) async throws -> [Note] {
        try await work.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id, title, text, createdAt FROM note WHERE id < ? ORDER BY id DESC LIMIT ?")
            return try Note.fetch(statement, arguments: [id ?? .max, count], upTo: bytes)
        }
    }

    package func page(of count: Int, bytes: Int, after id: Int64) async throws -> [Note] {
        try await work.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id, title, text, createdAt FROM note WHERE id > ? ORDER BY id LIMIT ?")
            return try Note.fetch(statement, arguments: [id, count], upTo: bytes)
        }
    }

    package func note(_ id: Int64) async throws -> Note? {
        try await work.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id, title, text, createdAt FROM note WHERE id = ?")
            return try Note.fetchOne(statement, arguments: [id])
        }
    }

    package func add(_ note: NewNote, at date: Date) async throws -> Note {
        try await work.write { database in
            let statement = try database.cachedStatement(
                sql: "INSERT INTO note (title, text, createdAt) VALUES (?, ?, ?)")
            try statement.execute(arguments: [note.title, note.text, date.timeIntervalSince1970])
            return Note(id: database.lastInsertedRowID, title: note.title, text: note.text, createdAt: date)
        }
    }

    package func remove(_ id: Int64) async throws -> Bool {
        try await work.write { database in
            try database.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id])
            return database.changesCount > 0
        }
    }

    package func removeAll(before date: Date) async throws -> Int {
        try await work.write { database in
            try database.execute(sql: "DELETE FROM note WHERE createdAt < ?", arguments: [date.timeIntervalSince1970])
            return database.changesCount
        }
    }
}

extension Note: FetchableRecord {
    /// Fetches notes until their texts have a size.
    fileprivate static func fetch(
        _ statement: Statement, arguments: StatementArguments, upTo bytes: Int
    ) throws -> [Note] {
        let rows = try fetchCursor(statement, arguments: arguments)
        var notes: [Note] = []
        var size = 0
        while size < bytes, let note = try rows.next() {
            notes.append(note)
            size += note.title.utf8.count + note.text.utf8.count
        }
        return notes
    }

    package init(row: Row) {
        self.init(id: row[0], title: row[1], text: row[2], createdAt: Date(timeIntervalSince1970: row[3]))
    }
}
