import Foundation
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NoteRoutesTests {
    @Test
    func `a note is stored, found, listed and removed`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let response = try await world.add("Milk")
            #expect(response.status == .created)
            let note = try response.decoded(Note.self)
            #expect(try await world.get("/tenants/acme/notes/\(note.id)").decoded(Note.self) == note)
            #expect(try await world.get("/tenants/acme/notes").decoded([Note].self) == [note])
            let removal = try await world.client.execute(uri: "/tenants/acme/notes/\(note.id)", method: .delete)
            #expect(removal.status == .noContent)
            #expect(try await world.get("/tenants/acme/notes/\(note.id)").status == .notFound)
        }
    }

    @Test(arguments: [NewNote(title: "\0", text: ""), NewNote(title: "Milk", text: "Two\0bottles")])
    func `a note with U+0000, at which SQLite would cut it off, is refused`(_ note: NewNote) async throws {
        try await withNotes { world in
            try await world.addTenant()
            let response = try await world.post("/tenants/acme/notes", note)
            #expect(response.status == .badRequest)
            #expect(response.text.contains("neither a title nor a text may contain U+0000"))
            let batch = try await world.post("/tenants/acme/batch", [note])
            #expect(batch.status == .unprocessableContent)
            #expect(try await world.titles().isEmpty)
        }
    }

    @Test
    func `a list of long notes has few of them, and can be continued`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let text = String(repeating: "x", count: 90_000)
            let batch = (0..<20).map { NewNote(title: "\($0)", text: text) }
            #expect(try await world.post("/tenants/acme/batch", batch).status == .created)
            let response = try await world.get("/tenants/acme/notes?limit=100")
            #expect(response.body.readableBytes < 400_000)
            #expect(try response.decoded([Note].self).first?.title == "19")
            #expect(try await world.titles() == (0..<20).map(String.init))
        }
    }

    @Test
    func `the list has pages, newest first`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            for number in 1...5 { try await world.add("note \(number)") }
            let first = try await world.get("/tenants/acme/notes?limit=2").decoded([Note].self)
            #expect(first.map(\.title) == ["note 5", "note 4"])
            let second = try await world.get("/tenants/acme/notes?limit=2&before=\(first[1].id)").decoded([Note].self)
            #expect(second.map(\.title) == ["note 3", "note 2"])
            for query in ["limit=0", "limit=101", "limit=many", "before=x"] {
                #expect(try await world.get("/tenants/acme/notes?\(query)").status == .badRequest)
            }
        }
    }

    @Test
    func `tenants at once see their own notes`() async throws {
        try await withNotes(openTenants: 3) { world in
            let tenants = (0..<12).map { "tenant-\($0)" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for tenant in tenants {
                    group.addTask {
                        try await world.addTenant(tenant)
                        for number in 0..<5 { try await world.add("\(tenant) \(number)", to: tenant) }
                    }
                }
                try await group.waitForAll()
            }
            for tenant in tenants {
                #expect(try await world.titles(of: tenant) == (0..<5).map { "\(tenant) \($0)" })
            }
            // Evicted databases are closed, and opened again.
            #expect(await world.openTenants().count == 3)
        }
    }

    @Test
    func `notes at once for one tenant are all stored`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 { group.addTask { try await world.add("\(number)") } }
                try await group.waitForAll()
            }
            #expect(Set(try await world.titles()).count == 40)
        }
    }

    @Test
    func `a handler without SQL opens no database`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let answer = try await world.get("/tenants/acme/whoami").decoded(WhoAmI.self)
            #expect(answer.tenant == "acme")
            #expect(await world.openTenants().isEmpty)
        }
    }

    @Test
    func `a tenant is added once`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            #expect(try await world.client.execute(uri: "/tenants/acme", method: .put).status == .conflict)
            #expect(try await world.get("/tenants").decoded([String].self) == ["acme"])
        }
    }
}
