/// Contents of the report's JSON file.
struct Report: Codable, Equatable, Sendable {
    struct File: Codable, Equatable, Sendable {
        var path: String
        var language: String
        var lines: LineCounts
    }

    struct Skipped: Codable, Equatable, Sendable {
        var path: String
        var reason: String
    }

    var directory: String
    var files: [File] = []
    var skipped: [Skipped] = []
}
