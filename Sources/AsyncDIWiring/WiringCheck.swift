/// A program that checks the wiring of an application: an executable target of a few lines.
///
/// ```swift
/// import AppWiring
/// import AsyncDIWiring
///
/// @main struct CheckWiring: WiringCheck {
///     var containers: [CheckedContainer] {
///         [
///             CheckedContainer(makeServer())
///                 .scope("request", resolving: OrderHandler.self) { Registration(expected: Request.self) }
///         ]
///     }
/// }
/// ```
/// It runs no factory. It prints each problem as a compiler would, `path/File.swift:12: error: …`, and exits with 1 when
/// there is one, with 2 when it was called wrongly, else with 0. `--help` lists what else it does.
@MainActor public protocol WiringCheck: Sendable {
    /// The program.
    init()

    /// The containers to check, filled as the application fills them.
    var containers: [CheckedContainer] { get async throws }

    /// What is worth a warning; nothing, unless this says so or `--warn` does.
    var warnings: WiringWarnings { get }
}

extension WiringCheck {
    /// No warnings.
    public var warnings: WiringWarnings { [] }

    /// Runs the check, as the process's arguments say, and ends the process.
    public static func main() async {
        let check = Self()
        let run = WiringRun(warnings: check.warnings) { try await check.containers }
        await run.perform(CommandLine.arguments).printAndExit()
    }
}

/// What a ``WiringCheck`` may warn about: nothing of it makes the check fail.
public struct WiringWarnings: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// A set of warnings.
    ///
    /// - Parameter rawValue: The bits of the set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Closures that do not declare what they resolve, so that it has not been checked.
    public static let opaqueClosures = WiringWarnings(rawValue: 1)
    /// Registrations that nothing reaches from the services that the check names.
    public static let unused = WiringWarnings(rawValue: 2)
    /// Singletons and multitons that live longer than everything that uses them.
    public static let outlivingUsers = WiringWarnings(rawValue: 4)
    /// All of these.
    public static let all: WiringWarnings = [.opaqueClosures, .unused, .outlivingUsers]
}
