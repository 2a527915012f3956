import Hummingbird
import Logging

/// Says how the server sees a request, without a look into the database.
package struct WhoAmIHandler: Sendable {
    private let tenant: TenantName
    private let info: RequestInfo
    private let logger: Logger

    package init(tenant: TenantName, info: RequestInfo, logger: Logger) {
        self.tenant = tenant
        self.info = info
        self.logger = logger
    }

    func answer() -> WhoAmI {
        logger.debug("who am I")
        return WhoAmI(tenant: tenant.description, request: info.id, path: info.path)
    }
}

/// Answer of `WhoAmIHandler`.
package struct WhoAmI: ResponseCodable, Sendable {
    package let tenant: String
    package let request: String
    package let path: String
}
