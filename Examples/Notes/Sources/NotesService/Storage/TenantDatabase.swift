import Foundation
import GRDB
import NIOPosix

/// The open database of a tenant: a connection that writes, and others that read beside it.
package final class TenantDatabase: Sendable {
    package let tenant: TenantName
    private let connections: DatabasePool

    /// Held by the unit of work whose transaction is open.
    package let writing = FairLock()

    /// Opens the file of a tenant, which must exist.
    ///
    /// On a thread that may block, as everything here does that does not go through GRDB's own threads.
    package static func open(_ tenant: TenantName, in files: TenantFiles) async throws -> TenantDatabase {
        try await NIOThreadPool.singleton.runIfActive { try TenantDatabase(tenant, in: files) }
    }

    private init(_ tenant: TenantName, in files: TenantFiles) throws {
        self.tenant = tenant
        let file = files.database(of: tenant)
        // SQLite would make an empty database of a file that is missing.
        guard FileManager.default.fileExists(atPath: file.path) else { throw NotesError.unavailable(tenant, .missing) }
        try Self.requireWritable(file, of: tenant)
        connections = try Self.naming(tenant) { try DatabasePool(path: file.path, configuration: Self.configuration) }
    }

    /// Makes the file of a new tenant.
    ///
    /// An existing file is left over from an interrupted addition, and is completed.
    package static func create(_ tenant: TenantName, in files: TenantFiles) async throws {
        try await NIOThreadPool.singleton.runIfActive { try createFile(of: tenant, in: files) }
    }

    private static func createFile(of tenant: TenantName, in files: TenantFiles) throws {
        let file = files.database(of: tenant)
        if FileManager.default.fileExists(atPath: file.path) { try requireWritable(file, of: tenant) }
        try naming(tenant) {
            let connections = try DatabasePool(path: file.path, configuration: configuration)
            defer { try? connections.close() }
            try connections.write { database in
                try database.create(table: "note", options: .ifNotExists) { table in
                    table.autoIncrementedPrimaryKey("id")
                    table.column("title", .text).notNull()
                    table.column("text", .text).notNull()
                    table.column("createdAt", .double).notNull()
                }
            }
        }
    }

    /// Reads committed notes, beside any transaction.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.naming(tenant) { try await connections.read(body) }
    }

    /// Uses the connection that writes; only for the unit of work that holds `writing`.
    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.naming(tenant) { try await connections.writeWithoutTransaction(body) }
    }

    /// Closes the file, with every note in it and no journal beside it.
    ///
    /// While another process has the file open, the journal stays.
    package func close() async throws {
        try await NIOThreadPool.singleton.runIfActive { try self.closeConnections() }
    }

    private func closeConnections() throws {
        // The last connection removes the journal, if it can write. So those that read go first.
        connections.invalidateReadOnlyConnections()
        // The transaction of another process may prevent the checkpoint, not the closing.
        _ = try? connections.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try connections.close()
    }

    /// Refuses a read-only file before SQLite makes read-only files beside it, which would outlast the permission.
    private static func requireWritable(_ file: URL, of tenant: TenantName) throws {
        guard FileManager.default.isWritableFile(atPath: file.path) else {
            throw NotesError.unavailable(tenant, .readOnly)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // A unit of work begins a transaction in one access, and ends it in a later one.
        configuration.allowsUnsafeTransactions = true
        // Another process may hold the file. Short, because a shutdown waits for it.
        configuration.busyMode = .timeout(1)
        return configuration
    }
}

extension TenantDatabase {
    /// Turns errors about the file into errors that name the tenant.
    private static func naming<Value>(_ tenant: TenantName, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw named(error, tenant) }
    }

    private static func naming<Value: Sendable>(
        _ tenant: TenantName, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch { throw named(error, tenant) }
    }

    private static func named(_ error: any Error, _ tenant: TenantName) -> any Error {
        NotesError.Reason(error).map { NotesError.unavailable(tenant, $0) } ?? error
    }
}
