import Foundation
import Logging
import NotesService
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RetentionTests {
    @Test
    func `the job removes old notes, tenant by tenant, in a transaction each`() async throws {
        try await withNotes { world in
            for tenant in ["acme", "broken", "other"] {
                try await world.addTenant(tenant)
                try await world.add("old", to: tenant)
            }
            try await world.app.container.reset(TenantDatabase.self)
            try FileManager.default.removeItem(at: world.files.database(of: try TenantName("broken")))

            // Everything is older than an age below zero; a tenant that fails does not stop the others.
            try await world.app.retention(keeping: .seconds(-10)).runOnce()
            #expect(try await world.titles(of: "acme").isEmpty)
            #expect(try await world.titles(of: "other").isEmpty)
            #expect(await world.openScopes() == 0)
        }
    }

    @Test
    func `the job keeps young notes`() async throws {
        try await withNotes { world in
            try await world.addTenant()
            try await world.add("young")
            try await world.app.retention(keeping: .seconds(60)).runOnce()
            #expect(try await world.titles() == ["young"])
        }
    }

    @Test
    func `a shutdown lets the job end its tenant, and begins no other`() async throws {
        let done = Mutex<[TenantName]>([])
        let (isRunning, mayGoOn) = (Gate(), Gate())
        let (first, second) = try (TenantName("first"), TenantName("second"))
        let service = RetentionService(every: .zero, logger: .quiet) {
            [first, second]
        } job: { tenant in
            isRunning.open()
            try await mayGoOn.pass()
            done.withLock { $0.append(tenant) }
        }
        try await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            try await isRunning.pass()
            trigger.triggerGracefulShutdown()
            mayGoOn.open()
            try await run
        }
        #expect(done.withLock { $0 } == [first])
    }

    @Test
    func `a cancellation that is a job's own does not stop the others`() async throws {
        let done = Mutex<[TenantName]>([])
        let (first, second) = try (TenantName("first"), TenantName("second"))
        let service = RetentionService(every: .zero, logger: .quiet) {
            [first, second]
        } job: { tenant in
            if tenant == first { throw CancellationError() }
            done.withLock { $0.append(tenant) }
        }
        try await service.runOnce()
        #expect(done.withLock { $0 } == [second])
    }
}
