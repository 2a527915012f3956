import Foundation
import GRDB
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BrokenTenantTests {
    /// Damages the file of a tenant that is not open.
    private func withDamaged(
        _ damage: @escaping @Sendable (URL) throws -> Void, test: @escaping @Sendable (World, URL) async throws -> Void
    ) async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.addTenant("healthy")
            let file = world.files.database(of: try TenantName("acme"))
            try damage(file)
            try await test(world, file)
            #expect(try await world.add("fine", to: "healthy").status == .created)
        }
    }

    @Test
    func `a missing file is not made anew`() async throws {
        try await withDamaged {
            try FileManager.default.removeItem(at: $0)
        } test: { world, file in
            let response = try await world.get("/tenants/acme/notes")
            #expect(response.status == .serviceUnavailable)
            #expect(response.text.contains("tenant acme is not available: its file is missing"))
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test
    func `a file that is no database is left alone`() async throws {
        let text = Data(String(repeating: "no database\n", count: 1000).utf8)
        try await withDamaged {
            try text.write(to: $0)
        } test: { world, file in
            let response = try await world.add("lost")
            #expect(response.status == .serviceUnavailable)
            #expect(response.text.contains("its file is not a database"))
            #expect(try Data(contentsOf: file) == text)
        }
    }

    @Test
    func `a read-only file is named`() async throws {
        try await withDamaged {
            try makeReadOnly($0)
        } test: { world, _ in
            let response = try await world.add("lost")
            #expect(response.status == .serviceUnavailable)
            #expect(response.text.contains("its file is read-only"))
        }
    }

    @Test(.disabled(if: getuid() == 0, "root may write every file"))
    func `a file that is read-only for a moment is available again afterwards`() async throws {
        try await withDamaged {
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: $0.path)
        } test: { world, file in
            let response = try await world.add("lost")
            #expect(response.status == .serviceUnavailable)
            #expect(response.text.contains("its file is read-only"))
            for ending in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: file.path + ending)) }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(try await world.add("kept").status == .created)
        }
    }

    @Test
    func `an addition that was cut short can be repeated`() async throws {
        try await withNotes { world in
            let file = world.files.database(of: try TenantName("acme"))
            try Data(String(repeating: "no database\n", count: 1000).utf8).write(to: file)
            #expect(try await world.client.execute(uri: "/tenants/acme", method: .put).status == .serviceUnavailable)
            #expect(try await world.get("/tenants").decoded([String].self).isEmpty)
            try Data().write(to: file)
            #expect(try await world.client.execute(uri: "/tenants/acme", method: .put).status == .created)
            #expect(try await world.add("kept").status == .created)
        }
    }

    @Test
    func `a tenant is unknown until its addition is stored`() async throws {
        try await withNotes { world in
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let catalogue = try DatabaseQueue(path: world.files.catalogue.path, configuration: configuration)
            // Another process writes to the catalogue.
            try await catalogue.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
            let response = try await world.client.execute(uri: "/tenants/acme", method: .put)
            #expect(response.status == .serviceUnavailable)
            #expect(response.text.contains("the catalogue is not available: its file is in use by another process"))
            #expect(try await world.add("lost").status == .notFound)
            try await catalogue.writeWithoutTransaction { try $0.rollback() }
            try catalogue.close()
            #expect(try await world.client.execute(uri: "/tenants/acme", method: .put).status == .created)
            #expect(try await world.add("kept").status == .created)
        }
    }

    @Test
    func `a tenant is available again after its file has been put back`() async throws {
        try await withDamaged {
            try FileManager.default.moveItem(at: $0, to: $0.appendingPathExtension("away"))
        } test: { world, file in
            #expect(try await world.add("lost").status == .serviceUnavailable)
            try FileManager.default.moveItem(at: file.appendingPathExtension("away"), to: file)
            #expect(try await world.add("kept").status == .created)
        }
    }
}

/// A damaged catalogue is found at the start, which opens it.
@Suite(.timeLimit(.minutes(1)))
struct BrokenCatalogueTests {
    /// Damages a catalogue that exists and is not open.
    private func withDamaged(
        _ damage: (URL) async throws -> Void, test: (TenantFiles) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var settings = Settings()
            settings.directory = directory
            let files = TenantFiles(settings)
            try await Catalogue(in: files).close()
            try await damage(files.catalogue)
            try await test(files)
        }
    }

    @Test
    func `a catalogue that cannot be written stops the start`() async throws {
        try await withDamaged {
            try makeReadOnly($0)
        } test: { files in
            let error = await #expect(throws: NotesError.self) { try await Catalogue(in: files) }
            #expect(error?.description == "the catalogue is not available: its file is read-only")
        }
    }

    @Test
    func `a catalogue that is no database stops the start`() async throws {
        try await withDamaged {
            try Data(String(repeating: "no database\n", count: 1000).utf8).write(to: $0)
        } test: { files in
            let error = await #expect(throws: NotesError.self) { try await Catalogue(in: files) }
            #expect(error?.description == "the catalogue is not available: its file is not a database")
        }
    }

    @Test
    func `the start waits a while for another process that writes the catalogue`() async throws {
        try await withDamaged { _ in
        } test: { files in
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: files.catalogue.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
            let duration = await ContinuousClock().measure {
                let error = await #expect(throws: NotesError.self) { try await Catalogue(in: files) }
                #expect(error?.description == "the catalogue is not available: its file is in use by another process")
            }
            #expect(duration > .milliseconds(500))
            try await other.writeWithoutTransaction { try $0.rollback() }
            try await Catalogue(in: files).close()
            try other.close()
        }
    }
}

/// Marks a database as one of a later format that this SQLite may read, not write.
///
/// Unlike the file's permissions, this also holds for root.
private func makeReadOnly(_ file: URL) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.seek(toOffset: 18)
    try handle.write(contentsOf: [3])
    try handle.close()
}
