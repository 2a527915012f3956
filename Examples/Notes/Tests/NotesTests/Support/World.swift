import AsyncDI
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import NotesComposition
import NotesService

/// A started application of a test, with a data directory of its own.
struct World: Sendable {
    let app: NotesApp
    let client: any TestClientProtocol

    var files: TenantFiles { TenantFiles(app.settings) }

    func addTenant(_ name: String = "acme") async throws {
        try await client.execute(uri: "/tenants/\(name)", method: .put)
    }

    func get(_ path: String) async throws -> TestResponse { try await client.execute(uri: path, method: .get) }

    func post(_ path: String, _ value: some Encodable) async throws -> TestResponse {
        let body = try ByteBuffer(data: JSONEncoder().encode(value))
        return try await client.execute(
            uri: path, method: .post, headers: [.contentType: "application/json"], body: body)
    }

    @discardableResult
    func add(_ title: String, to tenant: String = "acme") async throws -> TestResponse {
        try await post("/tenants/\(tenant)/notes", NewNote(title: title, text: ""))
    }

    /// Titles of all notes, oldest first.
    func titles(of tenant: String = "acme") async throws -> [String] {
        var notes: [Note] = []
        while true {
            let before = notes.last.map { "&before=\($0.id)" } ?? ""
            let page = try await get("/tenants/\(tenant)/notes?limit=100\(before)").decoded([Note].self)
            if page.isEmpty { return notes.map(\.title).reversed() }
            notes += page
        }
    }

    /// Tenants whose database is open.
    func openTenants() async -> [String] {
        await app.container.cachedArguments(of: TenantDatabase.self, TenantName.self).map(\.description).sorted()
    }
}

extension TestResponse {
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(buffer: body))
    }

    var text: String { String(buffer: body) }
}

/// Runs a test with an application of its own, which is disposed afterwards; in a temporary directory, unless there is
/// another one.
func withNotes(
    _ setup: TestingSetup = .router, in directory: URL? = nil, openTenants: Int = 64, logger: Logger = .quiet,
    observers: [any ContainerObserver] = [],
    @RegistrationBuilder overrides: () -> Registrations = { Registrations() },
    test: @escaping @Sendable (World) async throws -> Void
) async throws {
    try await withTemporaryDirectory { temporary in
        var settings = Settings()
        settings.directory = directory ?? temporary
        settings.openTenants = openTenants
        let app = NotesApp(settings, logger: logger, observers: observers, overrides: overrides)
        try await app.start()
        do {
            try await app.server().test(setup) { client in try await test(World(app: app, client: client)) }
        } catch {
            try? await app.container.dispose()
            throw error
        }
        try await app.container.dispose()
    }
}

func withTemporaryDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(component: "notes-tests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
}

extension Logger {
    /// A logger without output.
    static let quiet = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
}
