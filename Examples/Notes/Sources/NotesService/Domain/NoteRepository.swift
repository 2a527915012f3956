import Foundation

/// Notes of one tenant, within one unit of work.
package protocol NoteRepository: Sendable {
    /// The latest notes, newest first, from before a certain one if it is given.
    ///
    /// They end with the note that brings them to the number of bytes, or at the count.
    func latest(_ count: Int, bytes: Int, before id: Int64?) async throws -> [Note]

    /// Notes in the order of their identifiers, from after a certain one.
    ///
    /// The page ends with the note that brings it to the number of bytes, or at the count.
    func page(of count: Int, bytes: Int, after id: Int64) async throws -> [Note]

    func note(_ id: Int64) async throws -> Note?
    func add(_ note: NewNote, at date: Date) async throws -> Note

    /// Returns whether the note was there.
    func remove(_ id: Int64) async throws -> Bool

    /// Returns the number of removed notes.
    func removeAll(before date: Date) async throws -> Int
}
