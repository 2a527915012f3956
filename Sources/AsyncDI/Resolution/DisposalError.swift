/// The errors of a disposal: a failing hook does not stop the others.
public struct DisposalError: Error, CustomStringConvertible {
    /// The errors, in the order in which they were thrown.
    ///
    /// A ``ResolutionError`` with the code ``ResolutionError/Code/disposalTimedOut`` names the work that was unfinished
    /// at the deadline.
    public let errors: [any Error]
    /// The services whose hooks threw them; nil for other errors.
    package let services: [String?]
    /// Whether the errors keep nothing alive; also those of a disposal that a hook waited for, and so on.
    private var isWithoutOrigins = false

    /// The error of a disposal that threw these errors.
    ///
    /// - Parameter errors: The errors, some of which may be ``HookError`` values.
    init(errors: [any Error]) {
        self.errors = errors.map { ($0 as? HookError)?.error ?? $0 }
        services = errors.map { ($0 as? HookError)?.service }
    }

    /// The same errors without what they keep alive.
    var withoutOrigins: DisposalError {
        // Each disposal of a chain has the errors of the one before.
        if isWithoutOrigins { return self }
        var error = DisposalError(errors: parts(ResolutionError.withoutOrigins))
        error.isWithoutOrigins = true
        return error
    }

    /// The errors for another value, changed, and each with the service whose hook threw it.
    func parts(_ change: (any Error) -> any Error = { $0 }) -> [any Error] {
        zip(errors, services).map { error, service in
            let error = change(error)
            return service.map { HookError(service: $0, error: error) } ?? error
        }
    }

    /// All errors, one after the other, each with the service whose hook threw it, and advice.
    public var description: String {
        let list = zip(errors, services)
            .map { error, service in
                // One of a disposal that a hook waited for is escaped already; a chain of them may be long.
                let text = error is DisposalError ? "\(error)" : escaped("\(error)")
                return service.map { "\($0): \(text)" } ?? text
            }
            .joined(separator: "; ")
        let text = "disposal failed: \(list)\(list.hasSuffix(".") ? "" : ".")"
        let timedOut = errors.count { ResolutionError.Code.disposalTimedOut ~= $0 }
        // Nothing can be said about the rest before a disposal has ended.
        if timedOut == 0 {
            return text
                + " All other instances that were to be disposed have been. Look at the onDispose hooks of those that failed."
        }
        return timedOut == errors.count ? text : text + " Look at the onDispose hooks of those that failed."
    }
}

/// The error of an `onDispose` hook on its way to a ``DisposalError``, which names the service.
struct HookError: Error {
    /// The service, and where it is registered.
    let service: String
    let error: any Error
}

extension HookError {
    init(_ error: any Error, of binding: Binding) {
        self.init(service: PathStep(key: binding.key, binding: binding).description, error: error)
    }
}
