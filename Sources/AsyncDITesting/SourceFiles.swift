import AsyncDI
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
            fileID: site.fileID, filePath: path(of: site.fileID, near: place), line: Int(max(site.line, 1)), column: 1)
    }

    private static func path(of fileID: String, near place: SourceLocation) -> String {
        if fileID == place.fileID { return place.filePath }
        let parts = fileID.split(separator: "/")
        guard let module = parts.first, let file = parts.last else { return fileID }
        var folders = place.filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        // Beside the test, or in the usual folders of a package around it.
        if place.moduleName == module, let path = existing(folders.joined(separator: "/") + "/" + file) { return path }
        while !folders.isEmpty {
            let root = folders.joined(separator: "/")
            for folder in ["Sources", "Tests", "."] {
                if let path = FolderSearch.find(String(file), in: "\(root)/\(folder)/\(module)") { return path }
            }
            folders = folders.dropLast()
        }
        return fileID
    }

    private static func existing(_ path: String) -> String? { TextFile.exists(path) ? path : nil }
}
