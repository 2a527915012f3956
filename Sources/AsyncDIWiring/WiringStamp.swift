import Foundation

/// A file that names a program whose check succeeded: a build need not run the same program again.
///
/// The file is Swift source, because it becomes part of the target that is built.
struct WiringStamp {
    let file: String
    private let text: String

    init(file: String, arguments: [String], contract: String?) {
        self.file = file
        let files = [arguments.first, contract].compactMap(\.self).map { "\($0) \(Self.state(of: $0))" }
        text =
            "// Nothing is wrong with the wiring, says:\n"
            + (files + [arguments.dropFirst().joined(separator: " ")]).map { line in
                "// " + line.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
            }.joined()
    }

    /// The size and the time of a file, which a new version changes.
    private static func state(of file: String) -> String {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return "unknown" }
        let date = attributes[.modificationDate] as? Date
        return "\(attributes[.size] ?? 0) \(date?.timeIntervalSinceReferenceDate ?? 0)"
    }

    var isUpToDate: Bool {
        guard !text.contains(" unknown\n"), let data = try? Data(contentsOf: URL(filePath: file)) else { return false }
        return String(decoding: data, as: UTF8.self) == text
    }

    func write() throws { try Data(text.utf8).write(to: URL(filePath: file)) }
}
