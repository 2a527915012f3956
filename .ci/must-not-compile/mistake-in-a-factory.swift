// expect: value of type 'Resolver' has no member 'reslove'
import AsyncDI

struct Client: Sendable {
    let url: String
}

let container = Container {
    Registration(Client.self, lifetime: .singleton) { r in Client(url: try await r.reslove()) }
}
