// expect: type '(any Qualifier)?' has no member 'backup'
import AsyncDI

enum Env: Qualifier { case production, backup }
struct Address: Sendable {}

let container = Container {
    Registration(Address.self, qualifier: .backup) { _ in Address() }
}
