import Foundation
import Testing

@testable import TourKit

@Suite(.timeLimit(.minutes(1)))
struct SourceTreeTests {
    private func list(_ url: URL) throws -> SourceTree.Listing {
        try SourceTree(settings: Settings(directory: url)).list()
    }

    @Test
    func `files are found at every depth, hidden ones are not`() async throws {
        try await withTemporaryDirectory { directory in
            let hidden = [".git/f.swift", ".build/g.swift", ".hidden.swift"]
            for path in ["b.swift", "a/c.py", "a/d/e.H", "h.png", "i"] + hidden {
                try directory.write("x\n", to: path)
            }
            let listing = try list(directory.url)
            #expect(listing.files.map(\.path) == ["a/c.py", "a/d/e.H", "b.swift"])
            #expect(listing.files.map(\.language) == [.python, .c, .swift])
            #expect(listing.unreadable.isEmpty)
        }
    }

    @Test
    func `an empty directory has no files`() async throws {
        try await withTemporaryDirectory { directory in
            let listing = try list(directory.url)
            #expect(listing.files.isEmpty)
        }
    }

    @Test
    func `symbolic links are not followed, so that a loop ends`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a/b.swift")
            for (link, destination) in [("a/loop", ".."), ("again.swift", "a/b.swift"), ("dangling.swift", "nowhere")] {
                try FileManager.default.createSymbolicLink(
                    atPath: directory.url.appending(path: link).path, withDestinationPath: destination)
            }
            #expect(try list(directory.url).files.map(\.path) == ["a/b.swift"])
            // The directory itself may be a link.
            #expect(try list(directory.url.appending(path: "a/loop")).files.map(\.path) == ["a/b.swift"])
        }
    }

    @Test
    func `a missing path, or one that is no directory, is an error in one line`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a.swift")
            for path in ["missing", "a.swift"] {
                let error = #expect(throws: TourError.self) { try list(directory.url.appending(path: path)) }
                let description = try #require(error).description
                #expect(description.contains(path))
                #expect(!description.contains("\n"))
            }
        }
    }

    @Test(.disabled(if: geteuid() == 0, "root reads everything"))
    func `an unreadable directory below is left out and named`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a.swift")
            try directory.write("x\n", to: "closed/b.swift")
            let closed = directory.url.appending(path: "closed").path
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed) }
            let listing = try list(directory.url)
            #expect(listing.files.map(\.path) == ["a.swift"])
            #expect(listing.unreadable == ["closed"])
        }
    }
}
