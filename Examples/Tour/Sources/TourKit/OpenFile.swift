import Foundation

/// A file that is open for reading: a resource of the scope that counts it, which closes it.
actor OpenFile {
    private let handle: FileHandle

    init(_ file: SourceFile) throws {
        guard let handle = FileHandle(forReadingAtPath: file.url.path) else { throw SkipReason.unreadable }
        self.handle = handle
    }

    /// The next part of the file; nil at its end.
    ///
    /// However large the file, only a part of it is in memory.
    func read() throws -> [UInt8]? {
        do {
            guard let block = try handle.read(upToCount: 256 * 1024), !block.isEmpty else { return nil }
            return [UInt8](block)
        } catch {
            throw SkipReason.unreadable
        }
    }

    func close() throws {
        try handle.close()
    }
}
