import AsyncDI
import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import NotesService
import Testing

@testable import NotesComposition

@Suite(.timeLimit(.minutes(1)))
struct ExportTests {
    @Test
    func `an export has every note, in order`() async throws {
        try await withNotes(.ahc()) { world in
            try await world.addTenant()
            for start in stride(from: 0, to: 1000, by: 250) {
                _ = try await world.post(
                    "/tenants/acme/batch", (start..<start + 250).map { NewNote(title: "\($0)", text: "text") })
            }
            let response = try await world.get("/tenants/acme/export")
            let lines = response.text.split(separator: "\n")
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let notes = try lines.map { try decoder.decode(Note.self, from: Data($0.utf8)) }
            #expect(notes.map(\.title) == (0..<1000).map(String.init))
        }
    }

    @Test
    func `an export of long notes holds few of them at a time`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let text = String(repeating: "x", count: 90_000)
            let batch = (0..<20).map { NewNote(title: "\($0)", text: text) }
            #expect(try await world.post("/tenants/acme/batch", batch).status == .created)
            let writer = CollectingWriter()
            try await world.exportResponse().body.write(writer)
            #expect(writer.text.split(separator: "\n").count == 20)
            #expect(writer.largest < 400_000)
        }
    }

    @Test
    func `a cancelled export stops between two pages`() async throws {
        try await withNotes {
            Registration((any NoteRepository).self) { _ in EndlessRepository() }
        } test: { world in
            try await world.addTenant()
            let response = try await world.exportResponse()
            let writer = DiscardingWriter()
            let export = Task { try await response.body.write(writer) }
            try await writer.hasBegun.pass()
            export.cancel()
            await #expect(throws: CancellationError.self) { try await export.value }
        }
    }

    @Test
    func `the database stays open until the last byte`() async throws {
        try await withNotes(openTenants: 1) { world in
            try await world.addTenant()
            try await world.addTenant("other")
            try await world.add("exported")
            let response = try await world.exportResponse()
            // The other tenant's request would evict this one's database, were it not leased.
            try await world.add("evicts", to: "other")
            #expect(await world.openTenants().contains("acme"))

            let writer = CollectingWriter()
            try await response.body.write(writer)
            #expect(writer.text.contains("exported"))
            #expect(await world.openScopes() == 0)
        }
    }

    @Test
    func `a body that is dropped unused ends its scope`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            var response: Response? = try await world.exportResponse()
            #expect(response?.status == .ok)
            #expect(await world.openScopes() == 1)
            response = nil
            try await until { await world.openScopes() == 0 }
        }
    }

    @Test
    func `a client that vanishes ends the scope`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.add("never read")
            let response = try await world.exportResponse()
            await #expect(throws: CollectingWriter.Gone.self) {
                try await response.body.write(CollectingWriter(capacity: 0))
            }
            #expect(await world.openScopes() == 0)
        }
    }

    @Test
    func `an export under which the container is disposed fails`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.add("not sent")
            let response = try await world.exportResponse()
            try await world.app.container.dispose()
            let writer = CollectingWriter()
            await #expect(throws: (any Error).self) { try await response.body.write(writer) }
            #expect(!writer.isFinished)
        }
    }
}
