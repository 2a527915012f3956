import Hummingbird

extension NotesError: HTTPResponseError {
    package var status: HTTPResponse.Status {
        switch self {
        case .invalid: .badRequest
        case .unknownTenant, .noSuchNote: .notFound
        case .tenantExists: .conflict
        case .unavailable(_, .full), .catalogueUnavailable(.full):
            HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .unavailable, .catalogueUnavailable, .closing: .serviceUnavailable
        case .rolledBack, .ended: .internalServerError
        }
    }

    package func response(from request: Request, context: some RequestContext) throws -> Response {
        try HTTPError(status, message: description).response(from: request, context: context)
    }
}
