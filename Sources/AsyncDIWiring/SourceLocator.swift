import Foundation

/// Finds source files: registrations are known as `Module/File.swift` only.
///
/// It searches the given folders of modules, or else the folders below the current one that are named like the module.
struct SourceLocator {
    /// The folders of each known module.
    private var folders: [String: [String]]
    private let workingFolder: String
    /// The files of each module, by name.
    private var files: [String: [String: [String]]] = [:]

    init(folders: [String: [String]], workingFolder: String = FileManager.default.currentDirectoryPath) {
        self.folders = folders
        self.workingFolder = workingFolder
    }

    /// Returns the path of a file, or its ID when it was not found or several files have the name.
    mutating func path(of fileID: String) -> String {
        let parts = fileID.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, !fileID.hasPrefix("/") else { return fileID }
        let candidates = files(of: parts[0])[parts[1], default: []]
        return candidates.count == 1 ? candidates[0] : fileID
    }

    private mutating func files(of module: String) -> [String: [String]] {
        if let known = files[module] { return known }
        var files: [String: [String]] = [:]
        for folder in folders[module] ?? Self.folders(named: module, below: workingFolder, depth: 4) {
            for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
            where path.hasSuffix(".swift") {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                files[name, default: []].append("\(folder)/\(path)")
            }
        }
        self.files[module] = files
        return files
    }

    /// The folders with a name, not below one another, without hidden ones.
    private static func folders(named name: String, below folder: String, depth: Int) -> [String] {
        guard depth > 0, let entries = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return entries.filter { !$0.hasPrefix(".") }.sorted().flatMap { entry -> [String] in
            let path = "\(folder)/\(entry)"
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else { return [] }
            return entry == name ? [path] : folders(named: name, below: path, depth: depth - 1)
        }
    }
}
