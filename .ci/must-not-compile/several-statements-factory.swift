// expect: cannot infer type of closure parameter 'tenant' without a type annotation
import AsyncDI

final class Pool: Sendable {
    init(_ tenant: String) {}
}

let container = Container {
    Registration(Pool.self, lifetime: .multiton) { _, tenant in
        print("opening \(tenant)")
        return Pool(tenant)
    }
}
