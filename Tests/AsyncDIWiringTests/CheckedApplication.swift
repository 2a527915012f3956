import AsyncDI

@testable import AsyncDIWiring

struct Font: Sendable {}
struct Ink: Sendable {}
struct Page: Sendable {
    let font: Font
}
struct Request: Sendable {}
struct Handler: Sendable {
    let request: Request
}

/// The output and the exit code of a check of containers.
@MainActor func run(
    _ arguments: String..., warnings: WiringWarnings = [],
    containers: @escaping @MainActor () async throws -> [CheckedContainer]
) async -> WiringOutcome {
    await WiringRun(warnings: warnings, containers: containers).perform(["check"] + arguments)
}
