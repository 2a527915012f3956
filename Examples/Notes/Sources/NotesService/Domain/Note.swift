import Foundation

/// A note as it is stored.
package struct Note: Codable, Hashable, Sendable {
    package let id: Int64
    package let title: String
    package let text: String
    package let createdAt: Date

    package init(id: Int64, title: String, text: String, createdAt: Date) {
        self.id = id
        self.title = title
        self.text = text
        self.createdAt = createdAt
    }
}

/// A note as a client sends it.
package struct NewNote: Codable, Hashable, Sendable {
    package let title: String
    package let text: String

    package init(title: String, text: String) {
        self.title = title
        self.text = text
    }

    /// Reason why the note cannot be stored; nil when it can.
    package var problem: String? {
        if title.isEmpty { return "a note needs a title" }
        if title.utf8.count > 200 { return "a title has at most 200 bytes" }
        if text.utf8.count > 100_000 { return "a text has at most 100000 bytes" }
        // SQLite's text ends there.
        if title.utf8.contains(0) || text.utf8.contains(0) { return "neither a title nor a text may contain U+0000" }
        return nil
    }
}
