// expect: type 'Cache' does not conform to the 'Sendable' protocol
import AsyncDI

final class Cache {
    var entries: [String: String] = [:]
}

let container = Container {
    Registration(Cache.self, lifetime: .singleton) { _ in Cache() }
}
