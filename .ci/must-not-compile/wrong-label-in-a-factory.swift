// expect: incorrect argument label in call (have '_:name:', expected '_:qualifier:')
import AsyncDI

struct Client: Sendable {
    let url: String
}

let container = Container {
    Registration(Client.self, lifetime: .singleton) { r in Client(url: try await r.resolve(String.self, name: "url")) }
}
