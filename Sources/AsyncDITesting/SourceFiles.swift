import AsyncDI
import Foundation
import Testing

/// Finds the files of registrations, which are known as `Module/File.swift` only.
enum SourceFiles {
    /// Returns the source location of a registration.
    ///
    /// - Parameters:
    ///   - site: The site of the registration.
    ///   - place: A source location in the test, whose path leads to the package.
    /// - Returns: The source location.
    static func location(of site: RegistrationSite, near place: SourceLocation) -> SourceLocation {
        SourceLocation(
            checkedFileID: site.fileID, filePath: path(of: site.fileID, near: place), line: Int(clamping: site.line))
    }

    private static func path(of fileID: String, near place: SourceLocation) -> String {
        if fileID == place.fileID { return place.filePath }
        let parts = fileID.split(separator: "/").map(String.init)
        guard let module = parts.first, let file = parts.last else { return fileID }
        var folder = URL(filePath: place.filePath).deletingLastPathComponent()
        // Beside the test, or in the usual places of a package around it.
        let beside = folder.appending(path: file)
        if place.moduleName == module, FileManager.default.fileExists(atPath: beside.path) { return beside.path }
        while folder.path != "/", folder.path != "" {
            for sources in ["Sources/\(module)", "Tests/\(module)", module] {
                if let path = find(file, in: folder.appending(path: sources)) { return path }
            }
            folder = folder.deletingLastPathComponent().standardizedFileURL
        }
        return fileID
    }

    /// The path of a file in a folder or in the folders in it; nil when there is none.
    private static func find(_ file: String, in folder: URL) -> String? {
        let files = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles, .skipsPackageDescendants])
        while let url = files?.nextObject() as? URL {
            if url.lastPathComponent == file { return url.path }
        }
        return nil
    }
}

extension SourceLocation {
    /// A location from parts that a generator or another tool may have written: Swift Testing ends the process for a
    /// file without its module, and for lines and columns below one.
    init(checkedFileID fileID: String, filePath: String, line: Int, column: Int = 1) {
        let parts = fileID.split(separator: "/")
        let file = parts.last ?? "Unknown.swift"
        self.init(
            fileID: parts.count > 1 ? fileID : "Unknown/\(file)", filePath: filePath, line: max(line, 1),
            column: max(column, 1))
    }
}
