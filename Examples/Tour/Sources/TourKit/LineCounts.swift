/// How many lines of each kind there are in a file, or in many.
struct LineCounts: Codable, Equatable, Sendable {
    enum Kind: Sendable { case code, comment, blank }

    var code = 0
    var comment = 0
    var blank = 0

    mutating func add(_ kind: Kind) {
        switch kind {
        case .code: code += 1
        case .comment: comment += 1
        case .blank: blank += 1
        }
    }

    static func += (counts: inout LineCounts, more: LineCounts) {
        counts.code += more.code
        counts.comment += more.comment
        counts.blank += more.blank
    }
}
