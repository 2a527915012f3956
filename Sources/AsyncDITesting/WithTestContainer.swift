public import AsyncDI
public import Testing

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
///   - sourceLocation: The source location for reports without a registration.
///   - report: Receives each report; the default records an issue of the current test. Called in any task, even after
///     the end of the body.
///   - registrations: The container's registrations.
///   - overrides: Registrations that replace some of the others.
///   - operation: The body, isolated like the code around it.
/// - Returns: The result of the body.
/// - Throws: The error of the body, or of the container's start.
public nonisolated(nonsending) func withTestContainer<R>(
    _ options: TestContainerOption..., sourceLocation: SourceLocation = #_sourceLocation,
    report: (@Sendable (TestReport) -> Void)? = nil,
    @RegistrationBuilder _ registrations: () -> Registrations,
    @RegistrationBuilder overrides: () -> Registrations = { Registrations() },
    operation: (Container) async throws -> sending R
) async throws -> sending R {
    let session = TestSession(
        [
            TestSession.Layer(registrations: registrations(), isOfTest: true),
            TestSession.Layer(registrations: overrides(), isOfTest: true),
        ], TestContainerOption.Values(options), testID: nil,
        report: report ?? { $0.record(near: sourceLocation) })
    // Unsafe because a `do` cannot express that the result was received as `sending` and that no other code uses it on
    // its way out.
    nonisolated(unsafe) let result: R
    do {
        try await session.begin()
        result = try await session.run(operation)
    } catch {
        await session.end(failing: error)
        throw error
    }
    await session.end(failing: nil)
    return result
}

extension TestSession {
    /// Runs a body in which the container and this session are current.
    fileprivate nonisolated(nonsending) func run<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        try await Injection.with(container) {
            // Unsafe because `withValue` cannot express that the result was received as `sending`.
            nonisolated(unsafe) let result = try await TestSession.$current.withValue(self) {
                try await operation(container)
            }
            return result
        }
    }
}
