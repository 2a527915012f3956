/// A type that can be registered without a factory: `init()` creates it.
///
/// ```swift
/// struct Settings: DefaultInitializable {}
///
/// Registration(Settings.self, lifetime: .singleton)
/// ```
public protocol DefaultInitializable: Sendable {
    /// Creates an instance; may be asynchronous, and may throw.
    init() async throws
}

extension Registration where Service: DefaultInitializable {
    /// Registers a service created by its own `init()`.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { _ in
            try await Service()
        }
        blueprint.change { $0.dependencies = [] }
    }
}
