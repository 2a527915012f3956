package import AsyncDI

package struct Request: Sendable {}
package struct Handler: Sendable {
    let user: User
}
struct User: Sendable {
    let request: Request
}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(expected: Request.self)
        Registration(using: User.init, lifetime: .scoped)
        Registration(using: Handler.init)
    }
}
