import Foundation
import NotesService
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
}
