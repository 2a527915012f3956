// warns: 'with:' needs a source for each of the initializer's parameters
import AsyncDI

struct Ledger: Sendable {}
struct Rate: Sendable {}
struct Bill: Sendable {
    let ledger: Ledger
    let rate: Rate
}

let container = Container {
    Registration(using: Bill.init, with: .resolved)
}
