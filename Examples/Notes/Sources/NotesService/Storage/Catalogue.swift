import Foundation
import GRDB

/// The tenants that exist, kept in a database of their own and in memory.
package actor Catalogue {
    private let connection: DatabaseQueue
    private let files: TenantFiles
    private var known: Set<TenantName>
    /// Tenants whose addition is under way.
    private var adding: Set<TenantName> = []

    /// Opens the catalogue, and makes it when the directory is new.
    ///
    /// - Throws: An error also when the catalogue can be read but not written.
    package init(in files: TenantFiles) async throws {
        try files.prepare()
        let (connection, names) = try await Self.naming {
            let connection = try DatabaseQueue(path: files.catalogue.path, configuration: Self.configuration)
            try await connection.writeWithoutTransaction { try Self.proveWritable($0) }
            let names = try await connection.write { database in
                try database.create(table: "tenant", options: .ifNotExists) { $0.primaryKey("name", .text) }
                return try String.fetchAll(database, sql: "SELECT name FROM tenant")
            }
            return (connection, names)
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
    ///
    /// Requests find the tenant once it is stored, so that no note is acknowledged for a tenant that a failure takes
    /// back.
    package func add(_ tenant: TenantName) async throws {
        guard !known.contains(tenant), adding.insert(tenant).inserted else { throw NotesError.tenantExists(tenant) }
        defer { adding.remove(tenant) }
        try await create(tenant)
        known.insert(tenant)
    }

    /// Creates the file outside the actor, which every request asks for its tenant.
    @concurrent
    private nonisolated func create(_ tenant: TenantName) async throws {
        try await TenantDatabase.create(tenant, in: files)
        try await Self.naming { [connection] in
            try await connection.write { database in
                try database.execute(sql: "INSERT INTO tenant (name) VALUES (?)", arguments: [tenant.description])
            }
        }
    }

    /// Reads the database once.
    package func ping() async throws {
        try await Self.naming { [connection] in
            _ = try await connection.read { database in try Int.fetchOne(database, sql: "SELECT count(*) FROM tenant") }
        }
    }

    package func close() throws { try connection.close() }
}

extension Catalogue {
    private static var configuration: Configuration {
        var configuration = Configuration()
        // Another process may hold the file, as with a tenant's.
        configuration.busyMode = .timeout(1)
        return configuration
    }

    /// Writes, and takes that back.
    ///
    /// An immediate transaction by itself is no proof: on a read-only file, SQLite takes it for one that reads.
    private static func proveWritable(_ database: Database) throws {
        try database.inTransaction(.immediate) {
            try database.execute(sql: "PRAGMA user_version = 0")
            return .rollback
        }
    }

    /// Turns errors about the file into errors that name the catalogue.
    private static func naming<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw NotesError.Reason(error).map { NotesError.catalogueUnavailable($0) } ?? error
        }
    }
}
