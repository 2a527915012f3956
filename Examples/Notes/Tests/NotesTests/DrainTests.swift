import AsyncDI
import Foundation
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
            try await world.app.container.drain(deadline: .milliseconds(1))
            #expect(try await committedTitles(of: "acme", in: world.files).isEmpty)
            halt.goOn()
            #expect(try await running.status == .serviceUnavailable)
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
