import AsyncDI

// An application target whose declarations are on the main actor unless they say otherwise.
// Arguments, keys, qualifiers and lifetimes are `nonisolated`; main-actor protocols are `AnyObject, Sendable`. A
// factory's closure belongs to no actor: it creates a main-actor service with `await`, or is `@MainActor` itself.

actor HTTPClient {
    private(set) var isShutDown = false

    func shutdown() async throws { isShutDown = true }
}

protocol UserRepository: AnyObject, Sendable {
    var client: HTTPClient { get }
    var database: Database { get }
}

final class SQLUserRepository: UserRepository {
    let client: HTTPClient
    let database: Database

    init(client: HTTPClient, database: Database) {
        self.client = client
        self.database = database
    }
}

actor Database {
    let path: String

    private init(path: String) { self.path = path }

    static func open(_ path: String) async throws -> Database { Database(path: path) }
}

final class TenantPool {
    let tenant: String

    init(_ tenant: String) async throws { self.tenant = tenant }
}

final class CurrentUser {
    let db: Database

    init(db: Database) { self.db = db }
}

nonisolated protocol Clock: Sendable {
    var time: Int { get }
}

nonisolated struct SystemClock: Clock {
    var time: Int { 42 }
}

nonisolated struct Pet: Sendable, Equatable {
    let name: String
}

nonisolated struct City: Sendable, Hashable {
    let name: String
}

final class Owner {
    let pet: Pet
    let city: City

    init(pet: Pet, city: City) {
        self.pet = pet
        self.city = city
    }
}

nonisolated struct URL: Sendable, Hashable {
    let string: String
}

nonisolated struct Metrics: Sendable {}

nonisolated enum Env: Qualifier { case prod, test }

nonisolated extension Lifetime {
    static let session = Lifetime("session")
}

nonisolated let prodURL = URL(string: "https://example.com")

struct NetworkModule: Module {
    var registrations: Registrations {
        Registration(HTTPClient.self, lifetime: .singleton) { _ in HTTPClient() }
            .onDispose { client in try await client.shutdown() }
        Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
    }
}

struct PetModule: Module {
    var registrations: Registrations {
        Registration(Pet.self) { _ in Pet(name: "Rex") }
        Registration(City.self, instance: City(name: "Oslo"))
    }
}
