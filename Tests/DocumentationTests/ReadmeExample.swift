import AsyncDI

protocol UserRepository: Sendable {
    func name(of id: Int) async throws -> String
}

actor Database: UserRepository {
    static func open(_ path: String) async throws -> Database { Database() }
    func name(of id: Int) async throws -> String { "Ada" }
    func close() async throws {}
}

struct Greeter: Sendable {
    let users: any UserRepository
    func greet(_ id: Int) async throws -> String { "Hello, \(try await users.name(of: id))!" }
}

struct AppModule: Module {
    var registrations: Registrations {
        Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
            .implements((any UserRepository).self) { $0 }
            .onDispose { database in try await database.close() }
        Registration(using: Greeter.init)
    }
}

func run() async throws {
    try await withContainer {
        AppModule()
    } operation: { container in
        let greeter = try await container.resolve(Greeter.self)
        print(try await greeter.greet(1))
    }  // closes the database, also when something throws
}
