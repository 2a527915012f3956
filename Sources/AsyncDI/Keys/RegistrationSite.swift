/// The source location of a registration: the file, as `Module/File.swift`, and the line.
///
/// Errors show it for each step of their path:
/// `Owner (App/Modules.swift:12) → Pet (App/Modules.swift:14)`.
public struct RegistrationSite: Hashable, Sendable, CustomStringConvertible {
    /// The file as in `#fileID`: module and file name, without the folders of the machine that compiled it.
    public let fileID: String
    /// The line.
    public let line: UInt

    /// Creates a source location.
    ///
    /// - Parameters:
    ///   - fileID: The file, as in `#fileID`.
    ///   - line: The line.
    public init(fileID: String, line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    /// The file and the line, with a colon between them.
    public var description: String { "\(fileID):\(line)" }
}
