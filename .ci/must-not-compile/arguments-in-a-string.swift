// expect: type 'any Any.Type' cannot conform to 'Hashable'
import AsyncDI

struct Client: Sendable {
    let url: String
}

let container = Container {
    Registration(Client.self, lifetime: .multiton) { _, host, port in Client(url: "https://\(host):\(port)") }
}
