import Foundation

/// A file that is counted.
struct SourceFile: Sendable {
    let url: URL
    /// The path below the directory of the census.
    let path: String
    let language: Language
}

/// The directory of the census.
struct SourceTree: Sendable {
    let root: URL

    init(settings: Settings) throws {
        root = settings.directory.resolvingSymlinksInPath()
        try checkRoot()
    }

    struct Listing: Sendable {
        var files: [SourceFile] = []
        /// Directories that cannot be read.
        var unreadable: [String] = []
    }

    /// The source files below the directory, by path.
    ///
    /// Hidden files and directories (`.git`, `.build`) are left out, and so are symbolic links: following them would
    /// count a file twice, or never end.
    func list() -> Listing {
        var listing = Listing()
        visit(root, path: "", &listing)
        listing.files.sort { $0.path < $1.path }
        return listing
    }

    private func checkRoot() throws {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: root.path, isDirectory: &isDirectory)
        let problem: String? =
            if !exists {
                "there is no such directory"
            } else if !isDirectory.boolValue {
                "it is not a directory"
            } else if !FileManager.default.isReadableFile(atPath: root.path) {
                "permission denied"
            } else {
                nil
            }
        if let problem { throw TourError.directory(root.path, reason: problem) }
    }

    private func visit(_ directory: URL, path: String, _ listing: inout Listing) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
            listing.unreadable.append(path)
            return
        }
        for name in names where !name.hasPrefix(".") {
            let url = directory.appending(component: name)
            let childPath = path.isEmpty ? name : "\(path)/\(name)"
            // The type of the entry itself: a symbolic link is not followed.
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
            switch attributes?[.type] as? FileAttributeType {
            case .typeDirectory?:
                visit(url, path: childPath, &listing)
            case .typeRegular?:
                guard let language = Language(fileExtension: url.pathExtension) else { continue }
                listing.files.append(SourceFile(url: url, path: childPath, language: language))
            default:
                continue
            }
        }
    }
}
