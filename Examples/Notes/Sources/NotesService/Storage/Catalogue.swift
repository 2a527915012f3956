import Foundation
import GRDB

/// The tenants that exist, kept in a database of their own and in memory.
package actor Catalogue {
    private let connection: DatabaseQueue
    private let files: TenantFiles
    private var known: Set<TenantName>

    /// Opens the catalogue, and makes it when the directory is new.
    package init(in files: TenantFiles) async throws {
        try files.prepare()
        let connection = try DatabaseQueue(path: files.catalogue.path)
        let names = try await connection.write { database in
            try database.create(table: "tenant", options: .ifNotExists) { $0.primaryKey("name", .text) }
            return try String.fetchAll(database, sql: "SELECT name FROM tenant")
        }
        self.connection = connection
        self.files = files
        known = Set(try names.map { try TenantName($0) })
    }

    package var tenants: [TenantName] { known.sorted { $0.description < $1.description } }

    /// Returns the tenant of a name that came from outside.
    package func tenant(_ text: String) throws -> TenantName {
        let name = try TenantName(text)
        guard known.contains(name) else { throw NotesError.unknownTenant(name) }
        return name
    }

    /// Adds a tenant with an empty database.
    package func add(_ tenant: TenantName) async throws {
        guard known.insert(tenant).inserted else { throw NotesError.tenantExists(tenant) }
        do {
            try TenantDatabase.create(tenant, in: files)
            try await TenantDatabase.naming(tenant) { [connection] in
                try await connection.write { database in
                    try database.execute(sql: "INSERT INTO tenant (name) VALUES (?)", arguments: [tenant.description])
                }
            }
        } catch {
            known.remove(tenant)
            throw error
        }
    }

    /// Reads the database once.
    package func ping() async throws {
        _ = try await connection.read { database in try Int.fetchOne(database, sql: "SELECT count(*) FROM tenant") }
    }

    package func close() throws { try connection.close() }
}
