import Foundation
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NamesTests {
    @Test(arguments: ["a", "acme", "a-1", "z9-", Text("a", 32)])
    func `names are taken`(_ text: Text) throws {
        #expect(try TenantName(text.value).description == text.value)
    }

    @Test(
        arguments: [
            "", ".", "..", "../x", "a/b", "a\\b", "A", "1a", "-a", "a b", "a\0", "a.sqlite", "ä", "🍕", "a🍕", "%2e%2e",
            Text("a", 33), Text("a", 10_000_000),
        ] as [Text])
    func `invalid names are refused`(_ text: Text) {
        #expect(throws: NotesError.self) { try TenantName(text.value) }
    }

    @Test(
        arguments: [
            "..%2Fx", "%2E%2E%2Fcatalogue", "%00", "acme%2F..%2Fx", "%F0%9F%8D%95", "ACME", Text("a", 1_000_000),
        ] as [Text])
    func `a path with no name makes no file`(_ text: Text) async throws {
        try await withNotes { world in
            let name = text.value
            #expect(try await world.client.execute(uri: "/tenants/\(name)", method: .put).status == .badRequest)
            #expect(try await world.get("/tenants/\(name)/notes").status == .badRequest)
            let files = try FileManager.default.subpathsOfDirectory(atPath: world.files.directory.path)
            #expect(files.sorted() == ["catalogue.sqlite", "tenants"])
        }
    }

    @Test
    func `the name of no tenant opens nothing`() async throws {
        try await withNotes { world in
            for name in ["nobody", "catalogue"] {
                let response = try await world.get("/tenants/\(name)/notes")
                #expect(response.status == .notFound)
            }
            #expect(await world.openTenants().isEmpty)
        }
    }
}

/// A text that a test's report shows in short.
struct Text: ExpressibleByStringLiteral, CustomTestStringConvertible, Sendable {
    let value: String

    init(stringLiteral value: String) { self.value = value }

    init(_ character: Character, _ count: Int) { value = String(repeating: character, count: count) }

    var testDescription: String { value.count <= 40 ? value : "\(value.count) times \(value.prefix(1))" }
}
