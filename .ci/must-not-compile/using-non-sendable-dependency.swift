// expect: type 'Cache' does not conform to the 'Sendable' protocol
import AsyncDI

final class Cache {}
struct Shop: Sendable {
    init(cache: Cache) {}
}

let container = Container {
    Registration(using: Shop.init(cache:))
}
