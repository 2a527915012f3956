import AsyncDI
import Foundation
import NotesService
import Tracing

extension Container {
    /// Returns whether new requests are refused, as during a drain and after it.
    func scopesAreRefused() async -> Bool {
        do {
            try await withScope { _ in }
            return false
        } catch {
            return true
        }
    }
}

/// Titles in a tenant's file, read without the application.
func committedTitles(of tenant: String, in files: TenantFiles) async throws -> [String] {
    let database = try await TenantDatabase.open(TenantName(tenant), in: files)
    let notes = SQLNoteRepository(work: UnitOfWork(database: database, trace: .topLevel))
    let titles = try await notes.page(of: 1000, bytes: .max, after: 0).map(\.title)
    try await database.close()
    return titles
}

/// Open files of this process below a directory; nil where the system does not list them.
func openFiles(below directory: URL) -> [String]? {
    guard let numbers = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
    return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        .filter { $0.hasPrefix(directory.path) }
}

extension World {
    /// Number of scopes that are open, by the container's own text.
    func openScopes() async -> Int {
        app.container.debugDescription.split(separator: "\n").count { $0.contains("container \"") } - 1
    }
}
