// expect: requires that 'Tenant' conform to 'Hashable'
import AsyncDI

struct Tenant: Sendable {
    let name: String
}

final class Pool: Sendable {
    init(_ tenant: Tenant) {}
}

let container = Container {
    Registration(Pool.self, lifetime: .multiton) { (_, tenant: Tenant) in Pool(tenant) }
}
