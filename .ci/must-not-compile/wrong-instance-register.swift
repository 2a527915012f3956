// expect: cannot convert value of type 'String' to expected argument type 'Int'
import AsyncDI

func add(to container: Container) async throws {
    try await container.register(Int.self, instance: "forty-two")
}
