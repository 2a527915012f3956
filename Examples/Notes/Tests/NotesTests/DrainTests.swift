import AsyncDI
import Foundation
import GRDB
import Hummingbird
import NotesService
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@testable import NotesComposition

@Suite(.timeLimit(.minutes(1)))
struct DrainTests {
    @Test
    func `the service is ready after its start and until its shutdown`() async throws {
        try await withNotes { world in
            #expect(try await world.get("/ready").text == "starting\n")
            #expect(try await world.get("/ready").status == .serviceUnavailable)
            world.app.readiness.started()
            #expect(try await world.get("/ready").status == .ok)
            world.app.readiness.isDraining()
            let response = try await world.get("/ready")
            #expect(response.status == .serviceUnavailable)
            #expect(response.text == "draining\n")
            #expect(try await world.get("/health").status == .ok)
            // A late start does not make it ready again.
            world.app.readiness.started()
            #expect(try await world.get("/ready").status == .serviceUnavailable)
        }
    }

    @Test
    func `a running request ends, new ones are refused, and every file is closed`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            world.app.readiness.started()
            let running = Task { try await world.add("running") }
            try await halt.isReached()
            let service = ContainerService(
                container: world.app.container, readiness: world.app.readiness, deadline: .seconds(30))
            try await testGracefulShutdown { trigger in
                async let shutdown: Void = service.run()
                trigger.triggerGracefulShutdown()
                try await until { await world.app.container.scopesAreRefused() }
                #expect(world.app.readiness.state == .draining)
                #expect(try await world.add("too late").status == .serviceUnavailable)
                halt.goOn()
                #expect(try await running.value.status == .created)
                try await shutdown
            }
            if let open = openFiles(below: world.files.directory) { #expect(open.isEmpty) }
            #expect(try await committedTitles(of: "acme", in: world.files) == ["running"])
        }
    }

    @Test
    func `a request that does not end is rolled back at the deadline`() async throws {
        let halt = Halt()
        try await withNotes {
            halt.override
        } test: { world in
            try await world.addTenant()
            async let running = world.add("endless")
            try await halt.isReached()
            world.app.readiness.isDraining()
            // The end of the database may take as long again: enough on a busy machine, too.
            try await world.app.container.drain(deadline: .seconds(4))
            #expect(try await committedTitles(of: "acme", in: world.files).isEmpty)
            halt.goOn()
            #expect(try await running.status == .serviceUnavailable)
        }
    }

    @Test
    func `at the deadline, a request that waits to write does not keep the writer from its end`() async throws {
        let halt = Halt()
        let attempts = AsyncStream<Void>.makeStream()
        try await withNotes {
            Registration((any NoteRepository).self) { resolver in
                let base = try await SQLNoteRepository(work: resolver.resolve())
                attempts.continuation.yield()
                return halt.repository(base)
            }
        } test: { world in
            try await world.addTenant()
            world.app.readiness.isDraining()
            var attempted = attempts.stream.makeAsyncIterator()
            async let writing = world.add("endless")
            await attempted.next()
            try await halt.isReached()
            // The scope of the second request is newer, and so disposed first.
            async let waiting = world.add("waits")
            await attempted.next()
            let database = try await world.app.container.resolve(
                TenantDatabase.self, arguments: TenantName("acme"))
            try await until { database.writing.waiters == 1 }
            // The end of the database may take as long again: enough on a busy machine, too.
            try await world.app.container.drain(deadline: .seconds(4))
            #expect(try await committedTitles(of: "acme", in: world.files).isEmpty)
            halt.goOn()
            #expect(try await writing.status == .serviceUnavailable)
            #expect(try await waiting.status == .serviceUnavailable)
        }
    }

    @Test
    func `the file of a closed database has everything, also after concurrent reads`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.add("first")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try await world.titles() } }
                try await group.waitForAll()
            }
            try await world.add("second")
            try await world.app.container.dispose()

            let file = world.files.database(of: try TenantName("acme"))
            let files = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            #expect(files == ["acme.sqlite"])
            try FileManager.default.copyItem(at: file, to: world.files.database(of: TenantName("copy")))
            #expect(try await committedTitles(of: "copy", in: world.files) == ["first", "second"])
        }
    }

    @Test
    func `a database that another process reads is closed, and its file has everything`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.add("kept")
            let file = world.files.database(of: try TenantName("acme"))
            // A connection of another process, which makes this one not the last to close.
            let other = try DatabaseQueue(path: file.path)
            #expect(try await other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 1)
            try await world.app.container.dispose()
            try FileManager.default.copyItem(at: file, to: world.files.database(of: TenantName("copy")))
            #expect(try await committedTitles(of: "copy", in: world.files) == ["kept"])
            try other.close()
        }
    }

    @Test
    func `a database that another process writes is closed without an error`() async throws {
        try await withTemporaryDirectory { directory in
            var settings = Settings()
            settings.directory = directory
            let files = TenantFiles(settings)
            try files.prepare()
            let tenant = try TenantName("acme")
            try await TenantDatabase.create(tenant, in: files)
            let database = try await TenantDatabase.open(tenant, in: files)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: files.database(of: tenant).path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
            try await database.close()
            try await other.writeWithoutTransaction { try $0.rollback() }
            try other.close()
        }
    }

    @Test
    func `a data directory that cannot be made stops the start, and the error names the service`() async throws {
        try await withTemporaryDirectory { file in
            try Data().write(to: file)
            var settings = Settings()
            settings.directory = file
            let app = NotesApp(settings, logger: .quiet)
            let error = await #expect(throws: StartFailure.self) { try await app.run() }
            #expect(error?.path.map(\.description) == ["Catalogue"])
            #expect(error?.underlying is CocoaError)
        }
    }
}
