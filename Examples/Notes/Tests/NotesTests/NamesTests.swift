import Foundation
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NamesTests {
    @Test(arguments: ["a", "acme", "a-1", "z9-", String(repeating: "a", count: 32)])
    func `names are taken`(_ text: String) throws {
        #expect(try TenantName(text).description == text)
    }

    @Test(
        arguments: [
            "", ".", "..", "../x", "a/b", "a\\b", "A", "1a", "-a", "a b", "a\0", "a.sqlite", "ä", "🍕", "a🍕", "%2e%2e",
            String(repeating: "a", count: 33), String(repeating: "a", count: 10_000_000),
        ])
    func `what is no name is refused`(_ text: String) {
        #expect(throws: NotesError.self) { try TenantName(text) }
    }

    @Test(
        arguments: [
            "..%2Fx", "%2E%2E%2Fcatalogue", "%00", "acme%2F..%2Fx", "%F0%9F%8D%95", "ACME",
            String(repeating: "a", count: 1_000_000),
        ])
    func `a path with no name makes no file`(_ name: String) async throws {
        try await withNotes { world in
            #expect(try await world.client.execute(uri: "/tenants/\(name)", method: .put).status == .badRequest)
            #expect(try await world.get("/tenants/\(name)/notes").status == .badRequest)
            let files = try FileManager.default.subpathsOfDirectory(atPath: world.files.directory.path)
            #expect(files.sorted() == ["catalogue.sqlite", "tenants"])
        }
    }

    @Test
    func `a name that is nobody's opens nothing`() async throws {
        try await withNotes { world in
            for name in ["nobody", "catalogue"] {
                let response = try await world.get("/tenants/\(name)/notes")
                #expect(response.status == .notFound)
            }
            #expect(await world.openTenants().isEmpty)
        }
    }
}
