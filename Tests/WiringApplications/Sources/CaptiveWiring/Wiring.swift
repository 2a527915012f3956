package import AsyncDI

struct Transaction: Sendable {}
struct Repository: Sendable {
    let transaction: Transaction
}
struct Cache: Sendable {
    let repository: Repository
}

package func makeContainer() -> Container {
    Container(name: "app") {
        Registration(Transaction.self, lifetime: .scoped) { _ in Transaction() }
        Registration(using: Repository.init)
        Registration(using: Cache.init, lifetime: .singleton)
    }
}
