// expect: the initializer's result is not of the type given as 'as:'
import AsyncDI

protocol Greeter: Sendable {}
struct Door: Sendable {}

func add(to container: Container) async throws {
    try await container.register(using: Door.init, as: (any Greeter).self)
}
