import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BatchTests {
    @Test
    func `a batch is stored whole`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let batch = (0..<50).map { NewNote(title: "\($0)", text: "") }
            let response = try await world.post("/tenants/acme/batch", batch)
            #expect(response.status == .created)
            #expect(try response.decoded(BatchResult.self).ids.count == 50)
            #expect(try await world.titles().count == 50)
        }
    }

    @Test
    func `a batch with a bad note is not stored at all`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let response = try await world.post(
                "/tenants/acme/batch", [NewNote(title: "good", text: ""), NewNote(title: "", text: "bad")])
            #expect(response.status == .unprocessableContent)
            #expect(try response.decoded(BatchResult.self).problems == ["note 1: a note needs a title"])
            #expect(try await world.titles().isEmpty)
        }
    }

    @Test
    func `a body that is no batch changes nothing`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let response = try await world.client.execute(
                uri: "/tenants/acme/batch", method: .post, body: ByteBuffer(string: "[{"))
            #expect(response.status == .badRequest)
            #expect(try await world.titles().isEmpty)
        }
    }

    @Test
    func `every answer to a batch says that the connection is closed`() async throws {
        struct Broken: Error {}
        try await withNotes {
            interrupting { throw Broken() }
        } test: { world in
            let note = [NewNote(title: "note", text: "")]
            #expect(try await world.post("/tenants/acme/batch", note).headers[.connection] == "close")
            try await world.addTenant()
            for (batch, status) in [([], 201), ([NewNote(title: "", text: "")], 422), (note, 500)] {
                let response = try await world.post("/tenants/acme/batch", batch)
                #expect(response.status.code == status)
                #expect(response.headers[.connection] == "close")
            }
            #expect(try await world.get("/tenants/acme/notes").headers[.connection] == nil)
        }
    }

    @Test
    func `a batch whose client goes away is rolled back`() async throws {
        let halt = Halt()
        try await withNotes(.live) {
            halt.override
        } test: { world in
            try await world.addTenant()
            let client = TestClient(host: "localhost", port: try #require(world.client.port))
            client.connect()
            let body = try ByteBuffer(data: JSONEncoder().encode([NewNote(title: "lost", text: "")]))
            try await client.executeAndDontWaitForResponse(
                .init("/tenants/acme/batch", method: .post, authority: "localhost", headers: [:], body: body))
            try await halt.isReached()
            // The handler goes on only because it is cancelled.
            try await client.shutdown()
            try await until { await world.openScopes() == 0 }
            halt.goOn()
            #expect(try await world.titles().isEmpty)
        }
    }
}
