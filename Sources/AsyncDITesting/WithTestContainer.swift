public import AsyncDI
import Testing

/// Runs a body with its own container, as the trait `.container` does: for XCTest, and for a part of a test.
///
/// ```swift
/// func testCheckout() async throws {
///     try await withTestContainer(report: { if !$0.isWarning { XCTFail($0.description) } }) {
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
///     the end of the body. Outside Swift Testing, as in XCTest, the default throws the reports after the body, and
///     prints those that come later or beside an error of the body.
///   - fileID: The file that reports without a registration are recorded at.
///   - filePath: The path of that file.
///   - line: The line that reports without a registration are recorded at.
///   - column: The column that reports without a registration are recorded at.
///   - registrations: The container's registrations.
///   - overrides: Registrations that replace some of the others.
///   - operation: The body, isolated like the code around it.
/// - Returns: The result of the body.
/// - Throws: The error of the body, or of the container's start; ``TestContainerError/unreported(findings:)``.
public nonisolated(nonsending) func withTestContainer<R>(
    _ options: TestContainerOption..., report: (@Sendable (TestReport) -> Void)? = nil,
    // Not `#_sourceLocation`, which a file that imports XCTest alone does not find.
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
    @RegistrationBuilder _ registrations: () -> Registrations,
    @RegistrationBuilder overrides: () -> Registrations = { Registrations() },
    operation: (Container) async throws -> sending R
) async throws -> sending R {
    let place = SourceLocation(checkedFileID: fileID, filePath: filePath, line: line, column: column)
    // Outside Swift Testing, an issue would be lost.
    let unreported: Locked<Unreported>? = report == nil && Test.current == nil ? Locked(Unreported()) : nil
    let session = TestSession(
        [
            TestSession.Layer(registrations: registrations(), isOfTest: true),
            TestSession.Layer(registrations: overrides(), isOfTest: true),
        ], TestContainerOption.Values(options), testID: nil,
        report: report ?? { report in
            guard let unreported else { return report.record(near: place) }
            let isLate = unreported.withLock { findings in
                if !findings.isOver, !report.isWarning { findings.texts.append("\(report)") }
                return findings.isOver || report.isWarning
            }
            if isLate { print("\(report.isWarning ? "warning" : "error"): \(place): \(report)") }
        })
    // Unsafe because a `do` cannot express that the result was received as `sending` and is touched by nothing on its
    // way out.
    nonisolated(unsafe) let result: R
    do {
        result = try await session.run(operation)
    } catch {
        // The test fails by this error; the reports may say why.
        for text in unreported?.withLock({ $0.end() }) ?? [] { print("error: \(place): \(text)") }
        throw error
    }
    let findings = unreported?.withLock { $0.end() } ?? []
    if !findings.isEmpty { throw TestContainerError.unreported(findings: findings) }
    return result
}

/// The reports of a test outside Swift Testing, until its body has ended.
private struct Unreported {
    var texts: [String] = []
    private(set) var isOver = false

    /// Returns the reports; later ones are to be printed.
    mutating func end() -> [String] {
        isOver = true
        return texts
    }
}
