import Foundation
import NotesService

/// Repository that stores nothing and knows one note.
struct FakeRepository: NoteRepository {
    let note: Note

    init(_ title: String) { note = Note(id: 1, title: title, text: "", createdAt: Date(timeIntervalSince1970: 0)) }

    func latest(_ count: Int, bytes: Int, before id: Int64?) -> [Note] { id ?? .max > note.id ? [note] : [] }
    func page(of count: Int, bytes: Int, after id: Int64) -> [Note] { id < 1 ? [note] : [] }
    func note(_ id: Int64) -> Note? { note }
    func add(_ new: NewNote, at date: Date) -> Note { note }
    func remove(_ id: Int64) -> Bool { true }
    func removeAll(before date: Date) -> Int { 0 }
}

/// Repository whose second page fails.
struct BrokenRepository: NoteRepository {
    struct Broken: Error {}

    private let base = FakeRepository("first")

    func latest(_ count: Int, bytes: Int, before id: Int64?) -> [Note] { [] }
    func page(of count: Int, bytes: Int, after id: Int64) throws -> [Note] {
        if id > 0 { throw Broken() }
        return base.page(of: count, bytes: bytes, after: id)
    }
    func note(_ id: Int64) -> Note? { nil }
    func add(_ new: NewNote, at date: Date) -> Note { base.note }
    func remove(_ id: Int64) -> Bool { true }
    func removeAll(before date: Date) -> Int { 0 }
}

/// Repository whose pages never end.
struct EndlessRepository: NoteRepository {
    private let note = Note(id: 1, title: "again", text: "", createdAt: Date(timeIntervalSince1970: 0))

    func latest(_ count: Int, bytes: Int, before id: Int64?) -> [Note] { id ?? .max > note.id ? [note] : [] }
    func page(of count: Int, bytes: Int, after id: Int64) -> [Note] { [note] }
    func note(_ id: Int64) -> Note? { note }
    func add(_ new: NewNote, at date: Date) -> Note { note }
    func remove(_ id: Int64) -> Bool { true }
    func removeAll(before date: Date) -> Int { 0 }
}

/// Repository that does something after each note that it stored.
struct InterruptedRepository: NoteRepository {
    let base: SQLNoteRepository
    let afterAdding: @Sendable () async throws -> Void

    func latest(_ count: Int, bytes: Int, before id: Int64?) async throws -> [Note] {
        try await base.latest(count, bytes: bytes, before: id)
    }
    func page(of count: Int, bytes: Int, after id: Int64) async throws -> [Note] {
        try await base.page(of: count, bytes: bytes, after: id)
    }

    func note(_ id: Int64) async throws -> Note? { try await base.note(id) }
    func remove(_ id: Int64) async throws -> Bool { try await base.remove(id) }
    func removeAll(before date: Date) async throws -> Int { try await base.removeAll(before: date) }

    func add(_ new: NewNote, at date: Date) async throws -> Note {
        let note = try await base.add(new, at: date)
        try await afterAdding()
        return note
    }
}
