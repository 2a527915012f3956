import AsyncDI

package protocol Gateway: Sendable {
    var name: String { get }
}

package struct RealGateway: Gateway {
    package let name = "real"
}

package struct Checkout: Sendable {
    package let gateway: any Gateway
    package let ledger: Ledger

    package init(gateway: any Gateway, ledger: Ledger) {
        self.gateway = gateway
        self.ledger = ledger
    }
}

package actor Ledger {
    package init() {}
}

package actor Printer {
    package init() {}
}

package struct Jam: Error {
    package init() {}
}

package struct ShopModule: Module {
    package init() {}

    package var registrations: Registrations {
        Registration((any Gateway).self, lifetime: .singleton) { _ in RealGateway() }
        Registration(using: Checkout.init)
        Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }
        Registration(String.self, qualifier: "host", instance: "localhost")
        Registration(Printer.self, lifetime: .multiton(capacity: 1)) { (_, _: Int) in Printer() }
            .onDispose { _ in throw Jam() }
    }
}
