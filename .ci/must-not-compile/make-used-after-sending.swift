// expect: sending value of non-Sendable type
import AsyncDI

final class Parser {
    var position = 0
}

func parse(_ container: Container) async throws {
    let parser = try await container.make(Parser.self)
    Task.detached { parser.position += 1 }
    parser.position += 1
}
