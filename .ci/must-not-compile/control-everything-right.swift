// compiles: what the other snippets get wrong, done right
import AsyncDI

final class Database: Sendable {
    init() async throws {}
}

struct Tenant: Hashable {}

final class Pool: Sendable {
    init(_ tenant: Tenant) {}
}

final class Parser {}

func compose() async throws {
    let container = Container {
        Registration(Database.self, lifetime: .singleton) { _ in try await Database() }
        Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
        Registration(Pool.self, qualifier: "keyed", keyedBy: { (tenant: Tenant) in 1 }) { _, tenant in Pool(tenant) }
        Registration(Int.self, instance: 1)
        Registration(making: Parser.self) { _ in Parser() }
    }
    let database: Database = try await container.resolve()
    let parser = try await container.make(Parser.self)
    Task.detached { _ = parser }
    _ = database
}
