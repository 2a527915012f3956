// expect: expression is 'async' but is not marked with 'await'
import AsyncDI

struct Database: Sendable {}
func read(_ container: Container) async throws {
    let database = try container.resolve(Database.self)
}
