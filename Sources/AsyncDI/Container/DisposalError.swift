/// What went wrong while instances were disposed: one failing hook does not keep the others from running.
public struct DisposalError: Error, CustomStringConvertible {
    /// The errors, in the order in which they were thrown.
    ///
    /// A ``ResolutionError`` with the code ``ResolutionError/Code/disposalTimedOut`` names what had not ended by the
    /// deadline.
    public let errors: [any Error]

    /// All errors, one after the other, and what to do about them.
    public var description: String {
        let list = errors.map { "\($0)" }.joined(separator: "; ")
        return "disposal failed: \(list)\(list.hasSuffix(".") ? "" : ".")"
            + " Everything else was disposed all the same; look at the onDispose hooks of what failed."
    }
}
