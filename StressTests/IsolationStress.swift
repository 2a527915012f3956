import AsyncDI
import Dispatch
import Testing

/// Calls in the middle of a main-actor function: the code after them, and in their bodies, runs on the main actor.
///
/// Most valuable in release. The compiler drops a function's return to its actor when it takes the next call for one
/// that needs no actor, as it does for a specialized copy of a generic `nonisolated(nonsending)` function.
@Suite(.serialized, .timeLimit(.minutes(10)))
@MainActor struct IsolationStress {
    private actor Elsewhere {
        private var visits = 0
        func visit() async {
            await Task.yield()
            visits += 1
        }
    }

    private static let elsewhere = Elsewhere()
    private nonisolated static let mark = DispatchSpecificKey<Bool>()

    private final class Instance: Sendable {}
    private final class Slow: Sendable {}
    private final class Shared: Sendable {}
    private final class Scoped: Sendable {}
    private final class Numbered: Sendable {}
    private final class Failing: Sendable {}
    private struct Failure: Error {}
    private enum Name: Qualifier { case first }

    @inline(never)
    private nonisolated static func isHere() -> Bool { DispatchQueue.getSpecific(key: mark) == true }

    private static func makeContainer() -> Container {
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return Container {
            Registration(Instance.self, lifetime: .singleton) { _ in Instance() }
            Registration(Instance.self, qualifier: Name.first, lifetime: .singleton) { _ in Instance() }
            Registration(Slow.self, lifetime: .transient) { _ in
                await elsewhere.visit()
                return Slow()
            }
            Registration(Slow.self, qualifier: Name.first, lifetime: .transient) { _ in Slow() }
            Registration(Shared.self) { r in
                await elsewhere.visit()
                _ = try await r.resolve(Instance.self)
                return Shared()
            }
            Registration(Scoped.self, lifetime: .scoped) { _ in
                await elsewhere.visit()
                return Scoped()
            }
            Registration(Numbered.self, lifetime: .multiton) { (_, number: Int) in Numbered() }
            Registration(Numbered.self, lifetime: .multiton) { (_, x: Int, y: Int, z: Int) in Numbered() }
            Registration(Numbered.self, qualifier: Name.first, lifetime: .multiton) { (_, number: Int) in Numbered() }
            Registration(Instance.self, lifetime: .singleton) { _ in Instance() }.intoMany(key: 1)
            Registration(Failing.self, lifetime: .singleton) { _ -> Failing in
                await elsewhere.visit()
                throw Failure()
            }
        }
    }

    // Each call comes right after one to another actor, with no other code in between: the usual form in an app.

    private static func instance(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Instance.self)
        return isHere()
    }

    private static func qualified(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Instance.self, qualifier: Name.first)
        return isHere()
    }

    private static func anyQualified(_ container: Container) async throws -> Bool {
        let name: (any Qualifier)? = Name.first
        await elsewhere.visit()
        _ = try await container.resolve(Instance.self, qualifier: name)
        return isHere()
    }

    private static func severalArguments(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Numbered.self, arguments: 1, 2, 3)
        return isHere()
    }

    private static func qualifiedArgument(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Numbered.self, qualifier: Name.first, arguments: 1)
        return isHere()
    }

    private static func many(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolveMany(Instance.self)
        guard isHere() else { return false }
        await elsewhere.visit()
        _ = try await container.resolveMap(Instance.self, keyedBy: Int.self)
        return isHere()
    }

    private static func qualifiedTransient(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Slow.self, qualifier: Name.first)
        return isHere()
    }

    private static func numbered(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Numbered.self, arguments: 1)
        return isHere()
    }

    private static func transient(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Slow.self)
        return isHere()
    }

    private static func graph(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Shared.self)
        return isHere()
    }

    private static func scoped(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.resolve(Scoped.self)
        return isHere()
    }

    private static func optional(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        _ = try await container.optional(Instance.self)
        return isHere()
    }

    private static func failing(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        do {
            _ = try await container.resolve(Failing.self)
            return false
        } catch {
            return isHere()
        }
    }

    private static func unregistered(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        do {
            _ = try await container.resolve(Double.self)
            return false
        } catch {
            return isHere()
        }
    }

    private static func afterChange(_ container: Container) async throws -> Bool {
        try await container.register(Int.self) { _ in 1 }
        _ = try await container.resolve(Int.self)
        guard isHere() else { return false }
        try await container.reset()
        _ = try await container.resolve(Instance.self)
        return isHere()
    }

    private static func lease(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        let wasHere = try await container.withInstance(Numbered.self, arguments: 1) { _ in
            let isInside = isHere()
            await elsewhere.visit()
            _ = try await container.resolve(Instance.self)
            return isInside && isHere()
        }
        return wasHere && isHere()
    }

    private static func scope(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        let wasHere = try await container.withScope("request") { scope in
            let isInside = isHere()
            await elsewhere.visit()
            _ = try await scope.resolve(Instance.self)
            return isInside && isHere()
        }
        return wasHere && isHere()
    }

    private static func sharedGraph(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        let wasHere = try await container.withGraph { resolver in
            let isInside = isHere()
            await elsewhere.visit()
            _ = try await resolver.resolve(Shared.self)
            return isInside && isHere()
        }
        return wasHere && isHere()
    }

    private static func injected(_ container: Container) async throws -> Bool {
        await elsewhere.visit()
        let wasHere = try await Injection.with(container) {
            await elsewhere.visit()
            let instance: Instance = try await resolve()
            _ = instance
            return isHere()
        }
        return wasHere && isHere()
    }

    private static func wrapped(_ container: Container) async throws -> Bool {
        let (lazy, provider) = try await (
            container.resolve(Lazy<Instance>.self), container.resolve(Provider<Slow>.self)
        )
        await elsewhere.visit()
        _ = try await lazy()
        guard isHere() else { return false }
        await elsewhere.visit()
        _ = try await provider()
        return isHere()
    }

    private static let calls: [(name: String, call: @MainActor (Container) async throws -> Bool)] = [
        ("instance", instance), ("qualified", qualified), ("any qualifier", anyQualified),
        ("several arguments", severalArguments), ("qualified argument", qualifiedArgument), ("many", many),
        ("qualified transient", qualifiedTransient), ("numbered", numbered), ("transient", transient), ("graph", graph),
        ("scoped", scoped),
        ("optional", optional), ("failing", failing), ("unregistered", unregistered), ("after a change", afterChange),
        ("lease", lease), ("scope", scope), ("shared graph", sharedGraph), ("injected", injected),
        ("wrapped", wrapped),
    ]

    @Test func `a call returns to the caller's actor`() async throws {
        for (name, call) in Self.calls {
            let container = Self.makeContainer()
            for _ in 0..<20 {
                let isHere = try await call(container)
                #expect(isHere, "\(name)")
            }
            try await container.dispose()
        }
    }
}
