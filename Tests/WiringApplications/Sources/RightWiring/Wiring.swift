package import AsyncDI

package struct Database: Sendable {}
package struct Request: Sendable {}
package struct Clerk: Sendable {
    let database: Database
}
package struct Handler: Sendable {
    let request: Request
    let clerk: Clerk
    let metrics: Metrics?
}
package struct Metrics: Sendable {}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(Database.self, lifetime: .singleton) { _ in Database() }
        Registration(using: Clerk.init, lifetime: .singleton)
        Registration(expected: Request.self)
        Registration(using: Handler.init, lifetime: .scoped)
    }
}
