#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// Reads and writes small text files, without Foundation.
enum TextFile {
    /// An operation of the system that failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ operation: String, _ path: String) {
            description = "\(path) cannot be \(operation): \(String(cString: strerror(errno)))"
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// - Returns: The text; nil when the file does not exist.
    static func read(_ path: String) throws(Failure) -> String? {
        guard let file = fopen(path, "rb") else {
            if errno == ENOENT { return nil }
            throw Failure("opened", path)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        if ferror(file) != 0 { throw Failure("read", path) }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws(Failure) {
        guard let file = fopen(path, "wb") else { throw Failure("opened for writing", path) }
        let bytes = Array(text.utf8)
        let written = fwrite(bytes, 1, bytes.count, file)
        if fclose(file) != 0 || written != bytes.count { throw Failure("written", path) }
    }
}

/// A variable of the process's environment.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Searches a folder and its subfolders for a file.
enum FolderSearch {
    /// Returns the path of the file, or nil.
    static func find(_ name: String, in folder: String, depth: Int = 6) -> String? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var folders: [String] = []
        while let entry = readdir(directory) {
            let found = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if found == name { return "\(folder)/\(name)" }
            if !found.hasPrefix("."), !found.contains(".") { folders.append(found) }
        }
        guard depth > 0 else { return nil }
        for next in folders.sorted() {
            if let path = find(name, in: "\(folder)/\(next)", depth: depth - 1) { return path }
        }
        return nil
    }
}
