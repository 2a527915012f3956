public import AsyncDI
import Testing

/// A finding about a test's container, beyond the expectations of the test.
///
/// In a test with ``Testing/Trait/container(_:sourceLocation:_:)`` each report is an issue of the test, at the line of
/// the registration that it is about.
/// ``withTestContainer(_:report:fileID:filePath:line:column:_:overrides:operation:)`` can hand it to a closure.
public struct TestReport: Sendable, CustomStringConvertible {
    /// The kinds of reports, each of which ``TestContainerOption/allowing(_:because:)`` can switch off.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The key of an inner registration, meant as an override, is not registered around it; or a decoration among
        /// the overrides applies to nothing.
        case overrideOfNothing
        /// The test never resolved one of its own overrides; a warning.
        case unusedOverride
        /// A creation was under way when the test ended.
        case unfinishedCreation
        /// A lease was held when the test ended.
        case openLease
        /// A scope was open when the test ended.
        case openScope
        /// A task that outlived the test resolved a service.
        case lateRequest
        /// An instance is still alive after the end of its container; see ``TestContainerOption/reportingLeaks``.
        case livingInstance
        /// The disposal at the end of the test failed, or did not end in time.
        case failedDisposal
    }

    /// The kind.
    public let kind: Kind
    /// The finding, and advice on what to do about it.
    public let message: String
    /// The registration that the report is about; nil when it is about none.
    public internal(set) var site: RegistrationSite?
    /// The service of that registration.
    var key: ServiceKey?

    /// Whether the report is a warning, which does not fail the test.
    public var isWarning: Bool { kind == .unusedOverride }

    /// The message.
    public var description: String { message }
}

extension TestReport {
    /// A report that ends with the option that switches its kind off.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - text: The message up to that option.
    ///   - site: The registration that it is about.
    ///   - key: The service of that registration.
    init(_ kind: Kind, _ text: String, site: RegistrationSite? = nil, key: ServiceKey? = nil) {
        self.init(
            kind: kind, message: "\(text): .allowing(.\(kind.rawValue), because: \"…\").", site: site, key: key)
    }

    /// Records the report as an issue of the current test.
    ///
    /// - Parameter place: The source location in the test for issues without a registration.
    func record(near place: SourceLocation) {
        let location = site.map { SourceFiles.location(of: $0, near: place) } ?? place
        #if compiler(>=6.3)
            Issue.record(Comment(rawValue: message), severity: isWarning ? .warning : .error, sourceLocation: location)
        #else
            if isWarning {
                print("warning: \(location): \(message)")
            } else {
                Issue.record(Comment(rawValue: message), sourceLocation: location)
            }
        #endif
    }
}
