import Foundation
import HummingbirdTesting
import NotesByHand
import NotesService
import Testing

/// The twin has the same answers, so that a comparison of the two is fair.
@Suite(.timeLimit(.minutes(1)))
struct TwinTests {
    private struct Answer: Equatable {
        let status: Int
        let titles: [String]
    }

    private func answers(_ client: any TestClientProtocol) async throws -> [Answer] {
        var answers: [Answer] = []
        func ask(_ method: String, _ path: String, _ body: String? = nil) async throws {
            let response = try await client.execute(
                uri: "/tenants/\(path)", method: .init(method)!, headers: [.contentType: "application/json"],
                body: body.map { .init(string: $0) })
            let notes = (try? response.decoded([Note].self)) ?? []
            answers.append(Answer(status: response.status.code, titles: notes.map(\.title)))
        }
        try await ask("PUT", "acme")
        try await ask("PUT", "other")
        try await ask("POST", "acme/notes", #"{"title": "one", "text": ""}"#)
        try await ask("POST", "acme/notes", #"{"title": "", "text": ""}"#)
        try await ask("POST", "acme/batch", #"[{"title": "two", "text": ""}, {"title": "", "text": ""}]"#)
        try await ask("POST", "acme/batch", #"[{"title": "three", "text": ""}]"#)
        try await ask("POST", "other/notes", #"{"title": "elsewhere", "text": ""}"#)
        for path in ["notes", "notes/1", "notes/9", "export", "whoami"] { try await ask("GET", "acme/\(path)") }
        try await ask("GET", "nobody/notes")
        try await ask("DELETE", "acme/notes/1")
        try await ask("GET", "acme/notes")
        return answers
    }

    @Test
    func `the service and its twin give the same answers`() async throws {
        try await withNotes(openTenants: 1) { world in
            let expected = try await answers(world.client)
            try await withTemporaryDirectory { directory in
                var settings = Settings()
                settings.directory = directory
                settings.openTenants = 1
                let twin = try await HandWiredApp(settings, logger: .quiet)
                let found = try await twin.server().test(.router) { try await answers($0) }
                #expect(found == expected)
                #expect(expected.last?.titles == ["three"])
                try await twin.close()
                if let open = openFiles(below: directory) { #expect(open.isEmpty) }
            }
        }
    }
}
