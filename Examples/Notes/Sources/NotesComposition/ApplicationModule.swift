import AsyncDI
import NotesService

/// Services that live as long as the process, and the tenants' databases.
struct ApplicationModule: Module {
    let settings: Settings

    var registrations: Registrations {
        Registration(instance: settings)
        Registration(using: TenantFiles.init, lifetime: .singleton)

        // Opened by `start()`, so that a broken data directory is found before the first request.
        Registration(using: Catalogue.init, lifetime: .singleton)
            .onDispose { catalogue in try await catalogue.close() }
            .healthCheck { catalogue in try await catalogue.ping() }
            .eager()

        // One for each tenant in use. None is closed while a unit of work leases it.
        Registration(
            TenantDatabase.self, lifetime: .multiton(capacity: settings.openTenants, idle: settings.idle)
        ) { resolver, tenant in
            try await TenantDatabase.open(tenant, in: resolver.resolve())
        }
        .onDispose { database in try await database.close() }
        .dependencies(TenantFiles.self)
    }
}
