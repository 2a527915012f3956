import AsyncDI
import AsyncDITesting
import NotesComposition
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OverrideTests {
    /// Tests in parallel, each with a container and a fake of its own.
    @Test(arguments: 0..<8)
    func `a fake repository takes the place of the database`(_ number: Int) async throws {
        try await withNotes {
            Registration((any NoteRepository).self) { _ in FakeRepository("fake \(number)") }
        } test: { world in
            try await world.addTenant()
            #expect(try await world.titles() == ["fake \(number)"])
            #expect(try await world.add("real").decoded(Note.self).title == "fake \(number)")
            #expect(await world.openTenants().isEmpty)
        }
    }

    @Test
    func `the registrations are complete, and nothing in them is opaque`() async throws {
        let app = NotesApp(Settings(), logger: .quiet)
        let report = try await app.container.validationReport()
        #expect(report.problems.isEmpty)
        #expect(report.opaque.isEmpty)
    }

    /// A changed dependency is a changed line of the file, which `ASYNCDI_REWRITE_GRAPHS=1 swift test` writes.
    @Test
    func `the graph of the service is the one in the repository`() async throws {
        let container = NotesApp(Settings(), logger: .quiet).container
        try await expectWiring(of: container)
        try await expectGraph(matches: "Wiring.json", of: container)
        try await container.dispose()
    }

    @Test
    func `factories resolve the dependencies that they declare`() async throws {
        try await withNotes { world in
            await world.app.container.startRecording()
            try await world.addTenant()
            try await world.add("Milk")
            _ = try await world.get("/tenants/acme/whoami")
            _ = try await world.get("/tenants/acme/export")
            try await world.app.container.validate(against: world.app.container.dependencyGraph())
        }
    }
}
