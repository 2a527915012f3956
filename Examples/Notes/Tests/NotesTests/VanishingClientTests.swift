import Foundation
import HummingbirdTesting
import NotesService
import Testing

/// Clients that leave in the middle of a request or a response, over real connections.
@Suite(.timeLimit(.minutes(1)))
struct VanishingClientTests {
    @Test(arguments: ["notes", "batch"])
    func `a client that leaves in the middle of its body leaves nothing behind`(_ route: String) async throws {
        try await withNotes(.live) { world in
            try await world.addTenant()
            let client = try await world.connect()
            await client.send(
                """
                POST /tenants/acme/\(route) HTTP/1.1\r
                Host: localhost\r
                Content-Type: application/json\r
                Content-Length: 1000\r
                \r
                [{"title": "lost", "text": "
                """)
            try await until { await world.openScopes() == 1 }
            await client.vanish()
            try await until { await world.openScopes() == 0 }
            #expect(try await world.titles().isEmpty)
            #expect(try await world.add("kept").status == .created)
            #expect(try await world.titles() == ["kept"])
        }
    }

    @Test
    func `a client that leaves in the middle of an export lets the database go`() async throws {
        try await withNotes(.ahc(), openTenants: 1) { world in
            try await world.addTenant()
            try await world.addTenant("other")
            // More than the buffers of a connection hold.
            let text = String(repeating: "x", count: 90_000)
            for _ in 0..<20 {
                let batch = (0..<10).map { NewNote(title: "\($0)", text: text) }
                #expect(try await world.post("/tenants/acme/batch", batch).status == .created)
            }
            let client = try await world.connect()
            await client.send("GET /tenants/acme/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await until { await world.openScopes() == 1 }
            // The export holds the database, which there is room for beside the other one only while it is leased.
            try await world.add("beside", to: "other")
            #expect(await world.openTenants().contains("acme"))
            await client.vanish()
            try await until { await world.openScopes() == 0 }
            try await until { await world.openTenants().count == 1 }
            // The evicted database is closed in the background.
            try await until {
                guard let open = openFiles(below: world.files.directory) else { return true }
                return Set(open.filter { $0.hasSuffix(".sqlite") && $0.contains("/tenants/") }).count == 1
            }
        }
    }

    @Test
    func `a path of ten million characters is refused, and the server goes on`() async throws {
        try await withNotes(.live) { world in
            try await world.addTenant()
            let client = try await world.connect()
            async let end: Void = client.readToEnd()
            await client.send("GET /tenants/\(String(repeating: "a", count: 10_000_000))/notes HTTP/1.1\r\n\r\n")
            await end
            #expect(client.text.isEmpty || client.text.hasPrefix("HTTP/1.1 4"))
            #expect(try await world.add("kept").status == .created)
            #expect(await world.openScopes() == 0)
        }
    }
}
