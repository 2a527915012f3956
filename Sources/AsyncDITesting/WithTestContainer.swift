public import AsyncDI
import Testing

/// Runs a body with its own container, as the trait `.container` does: for XCTest, and for a part of a test.
///
/// ```swift
/// func testCheckout() async throws {
///     try await withTestContainer(report: { XCTFail($0.description) }) {
///         AppModule()
///     } overrides: {
///         Registration((any PaymentGateway).self, instance: FakeGateway())
///     } operation: { container in
///         let checkout = try await container.resolve(Checkout.self)
///         XCTAssertTrue(checkout.isReady)
///     }
/// }
/// ```
/// - Parameters:
///   - options: The options of the container.
///   - report: Receives each report; the default records an issue of the current test. Called in any task, also after
///     the end of the body.
///   - fileID: The file that reports without a registration are recorded at.
///   - filePath: The path of that file.
///   - line: The line that reports without a registration are recorded at.
///   - column: The column that reports without a registration are recorded at.
///   - registrations: The container's registrations.
///   - overrides: Registrations that replace some of the others.
///   - operation: The body, isolated like the code around it.
/// - Returns: The result of the body.
/// - Throws: The error of the body, or of the container's start.
public nonisolated(nonsending) func withTestContainer<R>(
    _ options: TestContainerOption..., report: (@Sendable (TestReport) -> Void)? = nil,
    // Not `#_sourceLocation`, which a file that imports XCTest alone does not find.
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
    @RegistrationBuilder _ registrations: () -> Registrations,
    @RegistrationBuilder overrides: () -> Registrations = { Registrations() },
    operation: (Container) async throws -> sending R
) async throws -> sending R {
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let session = TestSession(
        [
            TestSession.Layer(registrations: registrations(), isOfTest: true),
            TestSession.Layer(registrations: overrides(), isOfTest: true),
        ], TestContainerOption.Values(options), testID: nil,
        report: report ?? { $0.record(near: place) })
    return try await session.run(operation)
}
