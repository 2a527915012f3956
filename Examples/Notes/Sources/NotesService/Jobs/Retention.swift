import Foundation
import Logging

/// Removes a tenant's notes that are older than the settings allow.
package struct Retention: Sendable {
    private let notes: any NoteRepository
    private let tenant: TenantName
    private let logger: Logger

    package init(notes: any NoteRepository, tenant: TenantName, logger: Logger) {
        self.notes = notes
        self.tenant = tenant
        self.logger = logger
    }

    @discardableResult
    package func run(keeping age: Duration, now: Date = .now) async throws -> Int {
        let removed = try await notes.removeAll(before: now - TimeInterval(age.components.seconds))
        if removed > 0 { logger.info("removed old notes", metadata: ["tenant": "\(tenant)", "count": "\(removed)"]) }
        return removed
    }
}
