import Testing

@testable import AsyncDI

/// How users of Swinject resolve through wrappers: each test under the name that they know it by.
@Suite(.timeLimit(.minutes(10))) struct SwinjectWrapperParityTests {
    @Test func `Lazy is resolved at its first use, once, with names and arguments`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .transient) { (_, name: String) in
                Cat("\(name) \(runs.increment())")
            }
        }
        let lazy = try await container.resolve(Lazy<Cat>.self, qualifier: "named", arguments: "Mimi")
        #expect(runs.value == 0)
        let cat = try await lazy()
        #expect(cat.name == "Mimi 1")
        #expect(try await lazy() === cat)
    }

    @Test func `Lazy restores its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(LazyPair.self) { r in
                LazyPair(first: try await r.resolve(), second: try await r.resolve())
            }
        }
        let pair = try await container.resolve(LazyPair.self)
        #expect(try await pair.second() === pair.first)
        let next = try await container.resolve(LazyPair.self)
        #expect(try await next.second() !== pair.first)
    }

    @Test func `Optional, and a Provider used in a factory, belong to its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration([Thing].self) { r in
                let optional = try await r.resolve(Thing?.self)
                let provider = try await r.resolve(Provider<Thing>.self)
                return [try await r.resolve(), try #require(optional), try await provider()]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things.count == 3 && things.allSatisfy { $0 === things[0] })
    }

    @Test func `Provider resolves at each use, with names and arguments`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .transient) { (_, name: String) in
                Cat("\(name) \(runs.increment())")
            }
        }
        let provider = try await container.resolve(Provider<Cat>.self, qualifier: "named", arguments: "Mimi")
        #expect(runs.value == 0)
        #expect(try await provider().name == "Mimi 1")
        #expect(try await provider().name == "Mimi 2")
        #expect(try await provider("Tom").name == "Tom 3", "arguments may also come at the call")
    }

    @Test func `Optional is nil for an unregistered service, with names and arguments`() async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "named") { (_, name: String) in Cat(name) }
            Registration(using: Finder.init)
        }
        #expect(try await container.resolve(Cat?.self, qualifier: "named", arguments: "Mimi")?.name == "Mimi")
        #expect(try await container.resolve(Cat?.self, qualifier: "other", arguments: "Mimi") == nil)
        #expect(try await container.resolve(Finder.self).dog == nil)
        await expect(.argumentMismatch) { try await container.resolve(Cat?.self, qualifier: "named") }
    }
}

// MARK: Services

private final class Cat: Sendable {
    let name: String
    init(_ name: String = "cat") { self.name = name }
}

private final class Dog: Sendable {}

private struct LazyPair: Sendable {
    let first: Thing
    let second: Lazy<Thing>
}

private struct Finder: Sendable {
    let dog: Dog?
}
