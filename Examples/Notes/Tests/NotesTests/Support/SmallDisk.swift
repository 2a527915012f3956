import Foundation

/// A file system in memory, of 1 MB, part of which is taken by a file named `ballast`.
enum SmallDisk {
    struct NeverFull: Error {}

    /// Whether this process may mount file systems.
    static let isAvailable: Bool = {
        guard let directory = mount() else { return false }
        unmount(directory)
        return true
    }()

    static func with(_ body: (URL) async throws -> Void) async throws {
        guard let directory = mount() else { throw CocoaError(.fileWriteNoPermission) }
        defer { unmount(directory) }
        try Data(count: 200_000).write(to: directory.appending(path: "ballast"))
        try await body(directory)
    }

    private static func mount() -> URL? {
        let directory = FileManager.default.temporaryDirectory.appending(component: "notes-disk-\(UUID().uuidString)")
        guard (try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)) != nil
        else { return nil }
        if run("mount", "-t", "tmpfs", "-o", "size=1m", "notes", directory.path) { return directory }
        try? FileManager.default.removeItem(at: directory)
        return nil
    }

    private static func unmount(_ directory: URL) {
        _ = run("umount", "-l", directory.path)
        try? FileManager.default.removeItem(at: directory)
    }

    private static func run(_ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
