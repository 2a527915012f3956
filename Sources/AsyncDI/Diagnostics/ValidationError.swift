/// All problems of a container's registrations.
public struct ValidationError: Error, CustomStringConvertible {
    /// The problems, each as resolving the service would throw it.
    public let problems: [ResolutionError]

    /// The problems, one in a line.
    public var description: String {
        "validation found \(counted(problems.count, "problem")):" + problems.map { "\n- \($0)" }.joined()
    }
}

/// The result of ``Container/validationReport()``.
public struct ValidationReport: Sendable, CustomStringConvertible {
    /// A registration, and its source location.
    public struct Registration: Sendable, Hashable, CustomStringConvertible {
        /// The key.
        public let key: ServiceKey
        /// The file and line; nil when they are not known.
        public let site: RegistrationSite?

        /// The key, with file and line in parentheses.
        public var description: String { site.map { "\(key) (\($0))" } ?? "\(key)" }
    }

    /// All problems.
    public let problems: [ResolutionError]
    /// Registrations whose factory is a closure that declares no dependencies: these could not be looked into.
    public let opaque: [Registration]

    /// The problems and the opaque registrations, one a line.
    public var description: String {
        var text = problems.isEmpty ? "validation found no problem" : ValidationError(problems: problems).description
        if !opaque.isEmpty {
            text += "\nnot checked, because these do not declare their .dependencies(…):"
            text += opaque.map { "\n- \($0)" }.joined()
        }
        return text
    }
}
