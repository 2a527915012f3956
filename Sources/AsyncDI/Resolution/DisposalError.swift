/// The errors of a disposal: a failing hook does not stop the others.
public struct DisposalError: Error, CustomStringConvertible {
    /// The errors, in the order in which they were thrown.
    ///
    /// A ``ResolutionError`` with the code ``ResolutionError/Code/disposalTimedOut`` names the work that was unfinished
    /// at the deadline.
    public let errors: [any Error]

    /// All errors, one after the other, with advice.
    public var description: String {
        let list = errors.map { "\($0)" }.joined(separator: "; ")
        let text = "disposal failed: \(list)\(list.hasSuffix(".") ? "" : ".")"
        let timedOut = errors.count { ResolutionError.Code.disposalTimedOut ~= $0 }
        // Nothing can be said about the rest before a disposal has ended.
        if timedOut == 0 {
            return text + " All other instances were disposed. Look at the onDispose hooks of those that failed."
        }
        return timedOut == errors.count ? text : text + " Look at the onDispose hooks of those that failed."
    }
}
