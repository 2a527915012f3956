import AsyncDI

@testable import AsyncDITesting

/// Runs a body, and returns the reports: those of its container's end included.
func reports(
    _ options: TestContainerOption...,
    @RegistrationBuilder of registrations: () -> Registrations = { ShopModule().registrations },
    @RegistrationBuilder overrides: () -> Registrations = { Registrations() },
    in body: @Sendable (Container) async throws -> Void = { _ in }
) async throws -> [TestReport] {
    let log = Log<TestReport>()
    switch options.count {
    case 0:
        try await withTestContainer(report: { log.append($0) }, registrations, overrides: overrides) {
            try await body($0)
        }
    case 1:
        try await withTestContainer(
            options[0], report: { log.append($0) }, registrations, overrides: overrides
        ) {
            try await body($0)
        }
    default:
        try await withTestContainer(
            options[0], options[1], report: { log.append($0) }, registrations, overrides: overrides
        ) {
            try await body($0)
        }
    }
    return log.all
}
