import GRDB
import Tracing

/// One transaction on a tenant's database: everything that is written through it is committed together, or not at all.
///
/// The transaction begins with the first write. From then on it reads its own writes, and other units of work for the
/// same tenant wait before their first write. Reads before that run beside other transactions.
package actor UnitOfWork {
    private let database: TenantDatabase
    private let trace: InstrumentationContext
    private let turn = FairLock()
    private var span: (any Span)?
    /// The wait for the tenant's turn to write, while it lasts.
    private var waiting: Task<Void, any Error>?
    private var hasBegun = false
    private var isEnding = false
    private var hasEnded = false

    package init(database: TenantDatabase, trace: InstrumentationContext) {
        self.database = database
        self.trace = trace
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        guard hasBegun else { return try await database.read(body) }
        return try await inTurn { try await database.write(body) }
    }

    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await inTurn {
            if !hasBegun { try await begin() }
            return try await database.write { connection in
                // SQLite ends a transaction by itself after some errors: a write after that would be kept by itself.
                guard connection.isInsideTransaction else { throw NotesError.rolledBack }
                return try body(connection)
            }
        }
    }

    package func commit() async throws {
        try await end { try $0.commit() }
    }

    package func rollBack(because error: any Error) async throws {
        span?.recordError(error)
        try await end { try $0.rollback() }
    }

    private func begin() async throws {
        try await waitToWrite()
        do {
            try await database.write { try $0.beginTransaction(.immediate) }
        } catch {
            database.writing.unlock()
            throw error
        }
        span = startSpan("transaction", context: trace)
        span?.attributes["tenant"] = database.tenant.description
        hasBegun = true
    }

    /// Waits until no other unit of work writes to the database.
    ///
    /// In a task of its own, which the end of this unit of work cancels: otherwise its end would wait for that of the
    /// other one, which a disposal may end later.
    private func waitToWrite() async throws {
        let waiting = Task { [database] in try await database.writing.lock() }
        self.waiting = waiting
        defer { self.waiting = nil }
        do {
            try await withTaskCancellationHandler {
                try await waiting.value
            } onCancel: {
                waiting.cancel()
            }
        } catch  where isEnding {
            throw NotesError.ended
        }
    }

    /// Ends the transaction after the statement that is running, and admits no other.
    private func end(_ finish: @Sendable (Database) throws -> Void) async throws {
        isEnding = true
        waiting?.cancel()
        try await turn.lock()
        defer { turn.unlock() }
        guard !hasEnded else { return }
        hasEnded = true
        guard hasBegun else { return }
        defer {
            span?.end()
            database.writing.unlock()
        }
        do {
            try await database.write(finish)
        } catch {
            // The connection goes to the next unit of work without a transaction.
            try? await database.write { try $0.rollback() }
            span?.recordError(error)
            throw error
        }
    }

    /// Runs one statement at a time, also where a handler uses child tasks.
    private func inTurn<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await turn.lock()
        defer { turn.unlock() }
        guard !isEnding else { throw NotesError.ended }
        return try await body()
    }
}
