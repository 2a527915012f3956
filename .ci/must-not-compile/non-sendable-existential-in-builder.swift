// expect: type 'any Cache' does not conform to the 'Sendable' protocol
import AsyncDI

protocol Cache {}
struct Disk: Cache {}

let container = Container {
    Registration((any Cache).self, lifetime: .singleton) { _ in Disk() }
}
