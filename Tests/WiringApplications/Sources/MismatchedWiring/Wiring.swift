package import AsyncDI

struct Pool: Sendable {
    let tenant: String
}
struct Report: Sendable {
    let pool: Pool
}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant: tenant) }
        Registration(using: Report.init)
    }
}
