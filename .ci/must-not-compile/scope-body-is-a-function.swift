// expect: risks causing data races
import AsyncDI

func work(_ scope: Container) async throws -> Int { 3 }

func run(_ container: Container) async throws -> Int {
    try await container.withScope(operation: work)
}
