@testable import AsyncDI

/// The problems that a validation throws: the code and the path of each.
func problems(_ container: Container) async throws -> [String] {
    do {
        try await container.validate()
        return []
    } catch let error as ValidationError {
        return texts(error.problems)
    }
}

/// The problems of what these services need.
func problems(_ container: Container, _ services: any Any.Type...) async throws -> [String] {
    try await texts(container.validationReport(resolving: services).problems)
}

private func texts(_ problems: [ResolutionError]) -> [String] {
    problems.map { "\($0.code): " + $0.names.joined(separator: " → ") }
}
