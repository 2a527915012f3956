import AsyncDI
import Testing

/// Finds the files of registrations, which know them as `Module/File.swift` only.
enum SourceFiles {
    /// The place of a registration.
    ///
    /// - Parameters:
    ///   - site: Where the registration stands.
    ///   - place: A place in the test, whose path leads to the package.
    /// - Returns: The place.
    static func location(of site: RegistrationSite, near place: SourceLocation) -> SourceLocation {
        SourceLocation(
            fileID: site.fileID, filePath: path(of: site.fileID, near: place), line: Int(max(site.line, 1)), column: 1)
    }

    private static func path(of fileID: String, near place: SourceLocation) -> String {
        if fileID == place.fileID { return place.filePath }
        let parts = fileID.split(separator: "/")
        guard let module = parts.first, let file = parts.last else { return fileID }
        var folders = place.filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        // Beside the test, or in the usual places of a package around it.
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
