/// A program that checks the wiring of an application: an executable target of a few lines.
///
/// ```swift
/// @main struct CheckWiring: WiringCheck {
///     var containers: [CheckedContainer] {
///         [
///             CheckedContainer(makeContainer(), resolving: Clerk.self)
///                 .scope("request", resolving: Handler.self) {
///                     Registration(expected: Request.self)
///                 }
///         ]
///     }
/// }
/// ```
/// The check runs no factory. It prints each problem in the form of a compiler's error, `path/File.swift:12: error: …`.
/// Its exit code is 1 when it found a problem, 2 for wrong arguments, and otherwise 0. `--help` lists its other
/// abilities.
@MainActor public protocol WiringCheck: Sendable {
    /// Creates the program.
    init()

    /// The containers to check, with the registrations of the application.
    var containers: [CheckedContainer] { get async throws }

    /// The warnings to print besides those of `--warn`; none by default.
    var warnings: WiringWarnings { get }
}

extension WiringCheck {
    /// No warnings.
    public var warnings: WiringWarnings { [] }

    /// Runs the check with the arguments of the process, and ends the process.
    public static func main() async {
        let check = Self()
        let run = WiringRun(warnings: check.warnings) { try await check.containers }
        await run.perform(CommandLine.arguments).printAndExit()
    }
}

/// The warnings of a ``WiringCheck``, which never make it fail.
public struct WiringWarnings: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set of warnings.
    ///
    /// - Parameter rawValue: The bits of the set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Closures that do not declare their dependencies, which were therefore not checked.
    public static let opaqueClosures = WiringWarnings(rawValue: 1)
    /// Registrations that the services named in the check do not reach.
    public static let unused = WiringWarnings(rawValue: 2)
    /// Singletons and multitons that outlive all of their users.
    public static let outlivingUsers = WiringWarnings(rawValue: 4)
    /// All of these warnings.
    public static let all: WiringWarnings = [.opaqueClosures, .unused, .outlivingUsers]
}
