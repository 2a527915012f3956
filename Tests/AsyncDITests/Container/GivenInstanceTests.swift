import Testing

@testable import AsyncDI

/// Instances supplied with their registrations: bookkeeping begins when a request needs it.
@Suite(.timeLimit(.minutes(10))) struct GivenInstanceTests {
    private protocol Greeter: Sendable {}
    private final class Word: Greeter {}

    private func entries(of container: Container) -> Int { container.core.withState { $0.instances.count } }

    @Test func `requests without further rules leave no entry`() async throws {
        let word = Word()
        let container = Container { Registration(instance: word) }
        #expect(try await container.resolve(Word.self) === word)
        #expect(try container.ready(Word.self) === word)
        #expect(entries(of: container) == 0)
        try await container.dispose()
    }

    @Test func `a lease, a request in the general way and a forwarded type make one entry`() async throws {
        let word = Word()
        let container = Container {
            Registration(instance: word).implements((any Greeter).self)
            Registration(Int.self, lifetime: .transient) { resolver in
                _ = try await resolver.resolve(Optional<Word>.self)
                return 1
            }
        }
        try await container.withInstance(Word.self) { #expect($0 === word) }
        #expect(entries(of: container) == 1)
        for _ in 0..<3 { #expect(try await container.resolve((any Greeter).self) as? Word === word) }
        _ = try await container.resolve(Int.self)
        #expect(entries(of: container) == 1)
        // The forwarded type finds the new one, although the old one was published under it.
        let other = Word()
        try await container.register { Registration(instance: other).implements((any Greeter).self) }
        #expect(try await container.resolve((any Greeter).self) as? Word === other)
        #expect(try await container.resolve(Word.self) === other)
        try await container.dispose()
    }

    @Test func `an instance that is unregistered without an entry is gone`() async throws {
        let container = Container { Registration(instance: Word()) }
        #expect(await container.unregister(Word.self))
        await expect(.notRegistered) { _ = try await container.resolve(Word.self) }
        await expect(.notRegistered) { try await container.withInstance(Word.self) { _ in } }
        #expect(entries(of: container) == 0)
        try await container.dispose()
    }

    @Test func `an instance that is decorated later is found decorated, and alone by its decoration`() async throws {
        let word = Word()
        let container = Container { Registration((any Greeter).self, instance: word) }
        #expect(try await container.resolve((any Greeter).self) as? Word === word)
        struct Louder: Greeter { let inner: any Greeter }
        try await container.decorate((any Greeter).self) { _, inner in Louder(inner: inner) }
        let louder = try #require(try await container.resolve((any Greeter).self) as? Louder)
        #expect(louder.inner as? Word === word)
        try await container.withInstance((any Greeter).self) { #expect(($0 as? Louder)?.inner as? Word === word) }
        try await container.dispose()
    }

    @Test func `a reset keeps the instance, whether or not it has an entry`() async throws {
        let word = Word()
        let container = Container { Registration(instance: word) }
        try await container.reset()
        #expect(try await container.resolve(Word.self) === word)
        try await container.withInstance(Word.self) { _ in }
        try await container.reset()
        #expect(try await container.resolve(Word.self) === word)
        #expect(entries(of: container) == 1)
        try await container.dispose()
    }

    @Test func `a scope that has ended keeps no supplied value, even if its registration lives on`() async throws {
        weak var gone: Word?
        let container = Container()
        var registrations: Registrations?
        do {
            let word = Word()
            gone = word
            registrations = Registrations { Registration(instance: word) }
        }
        try await container.withScope {
            registrations ?? Registrations()
        } operation: { scope in
            _ = try await scope.resolve(Word.self)
        }
        #expect(gone != nil)
        registrations = nil
        #expect(gone == nil)
        try await container.dispose()
    }
}
