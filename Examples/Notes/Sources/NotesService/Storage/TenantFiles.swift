import Foundation

/// Places of the catalogue and of the tenants' databases in the data directory.
package struct TenantFiles: Sendable {
    package let directory: URL

    package init(_ settings: Settings) { directory = settings.directory }

    package var catalogue: URL { directory.appending(path: "catalogue.sqlite") }

    package func database(of tenant: TenantName) -> URL {
        directory.appending(path: "tenants/\(tenant).sqlite")
    }

    /// Makes the directories, where they are missing.
    package func prepare() throws {
        try FileManager.default.createDirectory(
            at: directory.appending(path: "tenants"), withIntermediateDirectories: true)
    }
}
