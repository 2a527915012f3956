import Foundation
import NotesService
import Testing

/// A data directory on a small file system, which a few notes fill.
@Suite(.timeLimit(.minutes(1)), .enabled(if: SmallDisk.isAvailable, "needs the right to mount a file system"))
struct FullDiskTests {
    private let long = String(repeating: "x", count: 50_000)

    /// Adds notes until there is no room for another one, and returns how many there are.
    private func fill(_ world: World, _ tenant: String) async throws -> Int {
        for number in 0..<100 {
            let response = try await world.post("/tenants/\(tenant)/notes", NewNote(title: "\(number)", text: long))
            if response.status == .created { continue }
            #expect(response.status.code == 507)
            #expect(response.text.contains("tenant \(tenant) is not available: its disk is full"))
            return number
        }
        throw SmallDisk.NeverFull()
    }

    @Test
    func `a note too many is refused, those before it stay, and room makes the next one possible`() async throws {
        try await SmallDisk.with { directory in
            try await withNotes(in: directory) { world in
                try await world.addTenant()
                try await world.addTenant("other")
                let stored = try await fill(world, "acme")
                #expect(stored > 0)
                #expect(try await world.titles() == (0..<stored).map(String.init))
                #expect(try await committedTitles(of: "acme", in: world.files) == (0..<stored).map(String.init))
                let other = try await world.post("/tenants/other/notes", NewNote(title: "long", text: long))
                #expect(other.status.code == 507)

                try FileManager.default.removeItem(at: directory.appending(path: "ballast"))
                let next = try await world.post("/tenants/acme/notes", NewNote(title: "new", text: long))
                #expect(next.status == .created)
                #expect(try await world.add("short", to: "other").status == .created)
            }
        }
    }

    @Test
    func `a batch for which there is no room is not stored at all`() async throws {
        try await SmallDisk.with { directory in
            try await withNotes(in: directory) { world in
                try await world.addTenant()
                try await world.add("before")
                let batch = (0..<20).map { NewNote(title: "\($0)", text: long) }
                #expect(try await world.post("/tenants/acme/batch", batch).status.code == 507)
                #expect(try await world.titles() == ["before"])
                try FileManager.default.removeItem(at: directory.appending(path: "ballast"))
                #expect(try await world.add("after").status == .created)
                #expect(try await committedTitles(of: "acme", in: world.files) == ["before", "after"])
            }
        }
    }

    @Test
    func `a tenant whose file does not fit does not exist afterwards`() async throws {
        try await SmallDisk.with { directory in
            try await withNotes(in: directory) { world in
                try await world.addTenant()
                _ = try await fill(world, "acme")
                let response = try await world.client.execute(uri: "/tenants/late", method: .put)
                #expect(response.status.code == 507)
                #expect(try await world.get("/tenants").decoded([String].self) == ["acme"])
                try FileManager.default.removeItem(at: directory.appending(path: "ballast"))
                #expect(try await world.client.execute(uri: "/tenants/late", method: .put).status == .created)
                #expect(try await world.add("first", to: "late").status == .created)
            }
        }
    }
}
