import AsyncDI

// The services of the documentation's call sites, as small as possible.

final class HTTPClient: Sendable {
    let isShutDown = Flag()

    func shutdown() async throws { await isShutDown.raise() }
}

actor Flag {
    private(set) var isRaised = false

    func raise() { isRaised = true }
}

protocol UserRepository: Sendable {
    var client: HTTPClient { get }
    var database: Database { get }
}

struct SQLUserRepository: UserRepository {
    let client: HTTPClient
    let database: Database
}

actor Database {
    nonisolated let path: String

    private init(path: String) { self.path = path }

    static func open(_ path: String) async throws -> Database { Database(path: path) }
}

final class TenantPool: Sendable {
    let tenant: String

    init(_ tenant: String) async throws { self.tenant = tenant }
}

final class CurrentUser: Sendable {
    let db: Database

    init(db: Database) { self.db = db }
}

protocol Clock: Sendable {
    var time: Int { get }
}

struct SystemClock: Clock {
    var time: Int { 42 }
}

struct Pet: Sendable, Equatable {
    let name: String
}

struct City: Sendable, Equatable {
    let name: String
}

struct Owner: Sendable, Equatable {
    let pet: Pet
    let city: City

    init(pet: Pet, city: City) {
        self.pet = pet
        self.city = city
    }
}

struct URL: Sendable, Hashable {
    let string: String
}

struct Metrics: Sendable {}

enum Env: Qualifier { case prod, test }

let prodURL = URL(string: "https://example.com")

/// Not `Sendable`: a service for `make`.
final class Parser {
    let source: String
    var position = 0

    init(source: String) { self.source = source }

    func advance() { position += 1 }
}

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
