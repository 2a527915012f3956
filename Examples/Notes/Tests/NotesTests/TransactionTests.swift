import AsyncDI
import Foundation
import Hummingbird
import Synchronization
import Testing

@testable import NotesService

@Suite(.timeLimit(.minutes(1)))
struct TransactionTests {
    private struct Broken: Error {}

    @Test
    func `a note is committed before its response`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            #expect(try await world.add("kept").status == .created)
            // Another connection sees it, which reads committed notes only.
            #expect(try await world.titles() == ["kept"])
        }
    }

    @Test
    func `a handler that throws leaves nothing behind`() async throws {
        try await withNotes {
            interrupting { throw Broken() }
        } test: { world in
            try await world.addTenant()
            #expect(try await world.add("lost").status == .internalServerError)
            #expect(try await world.titles().isEmpty)
        }
    }

    @Test
    func `a cancelled request leaves nothing behind`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            let request = Task { try await world.add("lost") }
            try await halt.isReached()
            request.cancel()
            _ = await request.result
            // This one waits for the other's transaction.
            halt.goOn()
            #expect(try await world.add("kept").status == .created)
            #expect(try await world.titles() == ["kept"])
        }
    }

    @Test
    func `units of work for a tenant come one after the other, and readers do not wait`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            async let first = world.add("first")
            try await halt.isReached()
            #expect(try await world.titles().isEmpty)
            async let second = world.add("second")
            halt.goOn()
            #expect(try await [first.status, second.status] == [.created, .created])
            #expect(try await world.titles() == ["first", "second"])
        }
    }

    @Test
    func `a request under which the container is disposed is rolled back and not acknowledged`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            async let response = world.add("lost")
            try await halt.isReached()
            world.app.readiness.isDraining()
            async let disposal: Void = world.app.container.dispose()
            try await until { await world.app.container.scopesAreRefused() }
            halt.goOn()
            #expect(try await response.status == .serviceUnavailable)
            try await disposal
            #expect(try await committedTitles(of: "acme", in: world.files).isEmpty)
        }
    }

    @Test
    func `a unit of work that has ended takes no more writes`() async throws {
        let late = Mutex<SQLNoteRepository?>(nil)
        try await withNotes {
            Registration((any NoteRepository).self) { resolver in
                let repository = try await SQLNoteRepository(work: resolver.resolve())
                late.withLock { $0 = repository }
                return repository
            }
        } test: { world in
            try await world.addTenant()
            try await world.add("in time")
            let repository = try #require(late.withLock { $0 })
            await #expect(throws: NotesError.ended) {
                _ = try await repository.add(NewNote(title: "late", text: ""), at: .now)
            }
            #expect(try await world.titles() == ["in time"])
        }
    }

    @Test
    func `after SQLite has ended a transaction by itself, nothing more is written`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            let database = try await TenantDatabase.open(TenantName("acme"), in: world.files)
            let work = UnitOfWork(database: database, trace: .topLevel)
            let repository = SQLNoteRepository(work: work)
            _ = try await repository.add(NewNote(title: "lost", text: ""), at: .now)
            // As after a full disk, for example.
            try await database.write { try $0.rollback() }
            await #expect(throws: NotesError.rolledBack) {
                _ = try await repository.add(NewNote(title: "alone", text: ""), at: .now)
            }
            try await work.rollBack(because: NotesError.rolledBack)
            try await database.close()
            #expect(try await world.titles().isEmpty)
        }
    }
}
