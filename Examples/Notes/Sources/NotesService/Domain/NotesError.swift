/// Errors with an answer for the client.
package enum NotesError: Error, Hashable {
    case invalid(String)
    case unknownTenant(TenantName)
    case tenantExists(TenantName)
    case noSuchNote(Int64)
    case unavailable(TenantName, Reason)
    case catalogueUnavailable(Reason)
    case closing
    case rolledBack
    case ended

    /// Reason why a database cannot be used.
    package enum Reason: String, Hashable, Sendable {
        case missing = "its file is missing"
        case unopenable = "its file cannot be opened"
        case busy = "its file is in use by another process"
        case notADatabase = "its file is not a database"
        case readOnly = "its file is read-only"
        case full = "its disk is full"
    }
}

extension NotesError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalid(let problem): problem
        case .unknownTenant(let tenant): "there is no tenant \(tenant)"
        case .tenantExists(let tenant): "there is a tenant \(tenant) already"
        case .noSuchNote(let id): "there is no note \(id)"
        case .unavailable(let tenant, let reason): "tenant \(tenant) is not available: \(reason.rawValue)"
        case .catalogueUnavailable(let reason): "the catalogue is not available: \(reason.rawValue)"
        case .closing: "the server is closing"
        case .rolledBack: "an earlier failure has rolled the work back"
        case .ended: "the request's work has ended"
        }
    }
}
