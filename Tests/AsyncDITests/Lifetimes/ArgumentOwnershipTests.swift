import Testing

@testable import AsyncDI

/// The deinitializers and methods of arguments and qualifiers are user code: where they end and when they run.
@Suite(.timeLimit(.minutes(10))) struct ArgumentOwnershipTests {
    private final class Pool: Sendable {}

    /// An argument whose deinitializer uses the container.
    private final class Asking: Hashable, Sendable {
        let child: Container
        let id: Int
        init(_ root: Container, _ id: Int) {
            child = Container(parent: root)
            self.id = id
        }
        static func == (first: Asking, second: Asking) -> Bool { first.id == second.id }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    @Test(arguments: [Lifetime.multiton, .multiton(capacity: 100), .multiton(idle: .seconds(600))])
    func `arguments of a reset instance end at once, outside the container's lock`(lifetime: Lifetime) async throws {
        let root = Container { Registration(Pool.self, lifetime: lifetime) { (_, _: Asking) in Pool() } }
        weak var first: Asking?
        weak var second: Asking?
        do {
            let arguments = (Asking(root, 1), Asking(root, 2))
            (first, second) = arguments
            _ = try await root.resolve(Pool.self, arguments: arguments.0)
            _ = try await root.resolve(Pool.self, arguments: arguments.1)
            try await root.reset(Pool.self, arguments: arguments.0)
        }
        #expect(first == nil, "nothing but the cache had it")
        #expect(second != nil)
        if let argument = second { try await root.reset(Pool.self, arguments: argument) }
        #expect(second == nil)
        _ = try await root.resolve(Pool.self, arguments: Asking(root, 3))
    }

    @Test func `an argument is hashed only where instances are found by it`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .transient) { (_, _: Counted) in Pool() }
            Registration(Int.self, keyedBy: { (_: Counted) in 1 }) { _, _ in 1 }
            Registration(String.self, lifetime: .transient) { (_, _: Counted, _: Int) in "" }
            Registration(Double.self, lifetime: .multiton) { (_, _: Counted) in 1 }
        }
        let argument = Counted()
        _ = try await container.resolve(Pool.self, arguments: argument)
        _ = try await container.resolve(Int.self, arguments: argument)
        _ = try await container.resolve(Int.self, arguments: argument)
        _ = try await container.resolve(String.self, arguments: argument, 1)
        try await container.withInstance(Pool.self, arguments: argument) { _ in }
        try await container.withInstance(Int.self, arguments: argument) { _ in }
        #expect(argument.hashes.withLock { $0 } == 0)
        _ = try await container.resolve(Double.self, arguments: argument)
        #expect(argument.hashes.withLock { $0 } > 0)
    }

    private final class Counted: Hashable, Sendable {
        let hashes = Locked(0)
        static func == (first: Counted, second: Counted) -> Bool { first === second }
        func hash(into hasher: inout Hasher) { hashes.withLock { $0 += 1 } }
    }

    /// A small plain value whose hash replaces a registration, which waits for every reader of a table.
    private struct Changing: Hashable, Sendable {
        let id: Int
        func hash(into hasher: inout Hasher) {
            _ = Container {
                Registration(Int.self) { _ in 1 }
                Registration(Int.self) { _ in 2 }
            }
            hasher.combine(id)
        }
    }

    @Test func `a hash may change containers`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: Changing) in Pool() }
            Registration(Int.self, lifetime: .multiton) { (_, number: Int, _: Changing) in number }
        }
        let pool = try await container.resolve(Pool.self, arguments: Changing(id: 1))
        #expect(try await container.resolve(Pool.self, arguments: Changing(id: 1)) === pool)
        for _ in 0..<2 { #expect(try await container.resolve(Int.self, arguments: 7, Changing(id: 1)) == 7) }
    }

    @Test func `a dropped container that decorates an inherited service is forgotten`() async throws {
        let root = Container { Registration(Pool.self, lifetime: .singleton) { _ in Pool() } }
        for _ in 0..<3 {
            _ = Container(parent: root) { Decoration(Pool.self) { _, inner in inner } }
        }
        #expect(root.core.withState { $0.decorators.isEmpty })
    }

    @Test func `a faulty registration that was decorated can be unregistered`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .transient) { _ in Pool() }.onDispose { _ in }
            Decoration(Pool.self) { _, inner in inner }
        }
        await expect(.invalidRegistration) { _ = try await container.resolve(Pool.self) }
        let isGone = await container.unregister(Pool.self)
        #expect(isGone)
        await expect(.notRegistered) { _ = try await container.resolve(Pool.self) }
    }

    @Test func `a qualifier of a subclass is found by its base class`() async throws {
        let derived: Name = Subname("a")
        let container = Container {
            Registration(Int.self, qualifier: Subname("a"), instance: 1)
            Registration(Int.self, qualifier: derived, lifetime: .singleton) { _ in 2 }
            Registration(String.self, qualifier: Subname("a"), lifetime: .singleton) { _ in "text" }
        }
        #expect(try await container.resolve(Int.self, qualifier: Subname("a")) == 2)
        for _ in 0..<2 { #expect(try await container.resolve(Int.self, qualifier: derived) == 2) }
        for _ in 0..<2 { #expect(try await container.resolve(String.self, qualifier: derived) == "text") }
        let name: any Qualifier = derived
        #expect(try await container.resolve(String.self, qualifier: name) == "text")
    }

    private class Name: Qualifier, @unchecked Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static func == (first: Name, second: Name) -> Bool { first.text == second.text }
        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    private final class Subname: Name, @unchecked Sendable {}
}
