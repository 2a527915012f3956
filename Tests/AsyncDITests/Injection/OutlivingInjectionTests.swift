import AsyncDI
import Testing

private final class Kept: Sendable {
    let number = Injected<Int>()
    let text = Injected<String>()
    let lazyNumber = Lazy<Int>()
    let lazyText = Lazy<String>()
    let provided = Lazy<Double>()
}

private struct Wrapped {
    @Inject var number: Int
    @LazyInject var text: Lazy<String>
}

/// An object that keeps injection points longer than the scope in which it was created.
@Suite(.timeLimit(.minutes(10)))
struct OutlivingInjectionTests {
    private static func application() -> Container {
        Container(name: "application") {
            Registration(Int.self, instance: 1)
            Registration(String.self, lifetime: .scoped) { _ in "own" }
            Registration(Double.self, lifetime: .singleton) { _ in 2 }
        }
    }

    @Test func `the next open container answers, but for the services of the ended scope`() async throws {
        let application = Self.application()
        let kept = try await application.withScope("first") { scope in
            let kept = Kept()
            _ = try await scope.resolve(String.self)
            #expect(try kept.text() == "own")
            #expect(try await kept.lazyText() == "own")
            return kept
        }
        #expect(try kept.number() == 1)
        #expect(try await kept.lazyNumber() == 1)
        #expect(try await kept.provided() == 2)
        await expect(.disposed) { try kept.text() }
        await expect(.disposed) { try await kept.lazyText() }
        // The service of another request is not that of the first one.
        try await application.withScope("second") { scope in
            _ = try await scope.resolve(String.self)
            #expect(try kept.number() == 1)
            #expect(try await kept.lazyNumber() == 1)
            await expect(.disposed) { try kept.text() }
            await expect(.disposed) { try await kept.lazyText() }
        }
        // A `Lazy` of which nothing is kept yet.
        let late = try await application.withScope { _ in Kept() }
        #expect(try await late.provided() == 2)
        await expect(.disposed) { try await late.lazyText() }
    }

    @Test func `property wrappers are answered alike`() async throws {
        let application = Self.application()
        let wrapped = try await application.withScope { _ in Wrapped() }
        #expect(wrapped.number == 1)
        await expect(.disposed) { try await wrapped.text() }
    }

    @Test func `of scopes in scopes, the nearest open one answers`() async throws {
        let application = Self.application()
        let session = try await application.openScope("session") { Registration(Int.self, instance: 3) }
        let kept = try await session.withScope("request") { _ in Kept() }
        #expect(try kept.number() == 3)
        await expect(.disposed) { try kept.text() }
        try await session.dispose()
        #expect(try await kept.provided() == 2)
        await expect(.disposed) { try kept.number() }
        await expect(.disposed) { try await kept.lazyNumber() }
        await expect(.disposed) { try kept.text() }
    }

    @Test func `a container that was named is not replaced, and after a root there is none`() async throws {
        let application = Self.application()
        let named = try await application.withScope { Injected<Int>(from: $0) }
        await expect(.disposed) { try named() }
        let lazy = try await application.withScope { Lazy<Int>(from: $0) }
        await expect(.disposed) { try await lazy() }
        let kept = Injection.with(application) { Kept() }
        #expect(try kept.number() == 1)
        try await application.dispose()
        await expect(.disposed) { try kept.number() }
        await expect(.disposed) { try await kept.lazyNumber() }
    }

    @Test func `an override may ask the original by an injection point of the outer container`() async throws {
        let application = Container {
            Registration(Int.self, instance: 1)
            Registration(Double.self, lifetime: .singleton) { _ in 1 }
        }
        let kept = Injection.with(application) { Kept() }
        for isLazy in [true, false] {
            let number = try await application.withScope {
                Registration(Int.self, lifetime: .transient) { _ in
                    try await (isLazy ? kept.lazyNumber() : kept.number()) + 10
                }
            } operation: { scope in
                try await scope.resolve(Int.self)
            }
            #expect(number == 11)
        }
        try await application.dispose()
    }

    @Test func `contributions of an ended container's fallback are refused, not left out`() async throws {
        let application = Container { Registration(Int.self, lifetime: .singleton) { _ in 1 }.intoMany() }
        let fallback = Container { Registration(Int.self, lifetime: .singleton) { _ in 2 }.intoMany() }
        let child = Container(parent: application, fallbacks: [fallback])
        let lazy = Injection.with(child) { Lazy<[Int]>() }
        #expect(try await lazy().sorted() == [1, 2])
        try await child.dispose()
        await expect(.disposed) { try await lazy() }
    }

    @Test(arguments: [true, false])
    func `contributions that the container around has too are answered`(isShared: Bool) async throws {
        let shared = Container { Registration(Int.self, lifetime: .singleton) { _ in 2 }.intoMany() }
        let application = Container(fallbacks: isShared ? [shared] : []) {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.intoMany()
        }
        let sibling = Container(parent: application)
        let child = Container(parent: application, fallbacks: [isShared ? shared : sibling])
        let lazy = Injection.with(child) { Lazy<[Int]>() }
        try await child.dispose()
        #expect(try await lazy().sorted() == (isShared ? [1, 2] : [1]))
    }

    @Test func `of a scope that ended inside the ended one, the services are refused too`() async throws {
        let application = Container { Registration(Int.self, instance: 1) }
        let outer = try await application.openScope("outer")
        let kept = Injection.with(outer) { Kept() }
        let mayAsk = Gate()
        let late = try await outer.withScope("inner") {
            Registration(Int.self, instance: 9)
        } operation: { _ in
            Task {
                await mayAsk.pass()
                await expect(.disposed) { try kept.number() }
                await expect(.disposed) { try await kept.lazyNumber() }
            }
        }
        try await outer.dispose()
        mayAsk.open()
        await late.value
        #expect(try kept.number() == 1)
    }

    @Test func `a request that began before the end of its scope is answered`() async throws {
        let mayEnd = Gate()
        let application = Container {
            Registration(Int.self, lifetime: .singleton) { _ in
                await mayEnd.pass()
                return 4
            }
        }
        let scope = try await application.openScope()
        let kept = Injection.with(scope) { Kept() }
        let number = Task { try await kept.lazyNumber() }
        await mayEnd.arrived()
        let end = Task { try await scope.dispose() }
        try await end.value
        mayEnd.open()
        #expect(try await number.value == 4)
        #expect(try await kept.lazyNumber() == 4)
    }
}
