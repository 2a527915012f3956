import AsyncDI

protocol UserRepository: Sendable {
    func name(of id: Int) async throws -> String
}

actor Database {
    static func open(_ path: String) async throws -> Database { Database() }
    func name(ofUser id: Int) async throws -> String { "Ada" }
    func close() async throws {}
}

struct SQLUserRepository: UserRepository {
    let database: Database

    func name(of id: Int) async throws -> String { try await database.name(ofUser: id) }
}

struct AppModule: Module {
    var registrations: Registrations {
        Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
            .onDispose { database in try await database.close() }
        Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
    }
}

func run() async throws {
    try await withContainer {
        AppModule()
    } operation: { container in
        let users = try await container.resolve((any UserRepository).self)
        print(try await users.name(of: 1))
    }  // closes the database, also when something throws
}
