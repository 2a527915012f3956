/// Error that ends the tour, in one line for the user.
enum TourError: Error, Equatable, CustomStringConvertible {
    case usage(String)
    case directory(String, reason: String)
    case report(String, reason: String)

    var description: String {
        switch self {
        case .usage(let problem): "\(problem) (\(Settings.usage))"
        case .directory(let path, let reason): "cannot read the directory \(path): \(reason)"
        case .report(let path, let reason): "cannot write the report \(path): \(reason)"
        }
    }
}

/// Why a file, or a directory below the first one, is left out.
enum SkipReason: String, Error {
    case unreadable = "cannot be read"
    case notUTF8 = "is not UTF-8"
    case lineTooLong = "has a line of more than 16 MiB"
}
