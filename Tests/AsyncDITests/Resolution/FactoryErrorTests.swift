import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}
private struct C: Sendable {}
private struct X: Sendable {}
private struct Y: Sendable {}

/// An error that is identified by its object.
private final class IdentifiableError: Error {}

/// A factory's own error reaches the caller unchanged.
@Suite(.timeLimit(.minutes(10))) struct FactoryErrorTests {
    static let lifetimes: [Lifetime] = [
        .transient, .graph, .singleton, .multiton, .scoped, .weak, Lifetime("custom"),
        Lifetime("stored") { StrongStorage() },
    ]

    @Test(arguments: lifetimes)
    func `the caller catches the very error that the factory threw`(lifetime: Lifetime) async throws {
        let thrown = IdentifiableError()
        let container = Container { Registration(A.self, lifetime: lifetime) { _ in throw thrown } }
        let caught = await #expect(throws: IdentifiableError.self) { try await container.resolve(A.self) }
        #expect(caught === thrown)
    }

    @Test(arguments: lifetimes, lifetimes)
    func `the caller catches the very error of a nested factory`(outer: Lifetime, inner: Lifetime) async throws {
        let thrown = IdentifiableError()
        let container = Container {
            Registration(using: { (a: A) in X() })
            Registration(A.self, lifetime: outer) { r in
                _ = try await r.resolve(B.self); return A()
            }
            // A weak service is no value, but a failing factory creates none.
            Registration(B.self, lifetime: inner) { r in
                _ = try await r.resolve(C.self); return B()
            }
            Registration(C.self) { _ in throw thrown }
        }
        // A singleton of the root must not resolve scoped or resettable services.
        let isCaptive = (inner == .scoped || inner.isResettable) && outer.outlivesScopes
        do {
            _ = try await container.resolve(X.self)
            Issue.record("an error was expected")
        } catch let caught as IdentifiableError {
            #expect(caught === thrown && !isCaptive)
        } catch ResolutionError.Code.captiveDependency {
            #expect(isCaptive)
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak, .multiton])
    func `all waiters get the same error, also inside other creations`(lifetime: Lifetime) async throws {
        let factory = DrivenFactory<A>()
        let thrown = IdentifiableError()
        let container = Container {
            Registration(A.self, lifetime: lifetime) { _ in try await factory.run() }
            Registration(X.self, lifetime: lifetime) { r in
                _ = try await r.resolve(A.self); return X()
            }
            Registration(Y.self) { r in
                _ = try await r.resolve(X.self); return Y()
            }
        }
        let first = Task { _ = try await container.resolve(A.self) }
        await factory.began()
        let others = [
            Task { _ = try await container.resolve(A.self) },
            Task { _ = try await container.resolve(X.self) },
            Task { _ = try await container.resolve(Y.self) },
        ]
        await container.core.waiters(of: A.self, reach: 3)
        await container.core.waiters(of: X.self, reach: 2)
        factory.fail(thrown)
        for asker in [first] + others {
            let caught = await #expect(throws: IdentifiableError.self) { try await asker.value }
            #expect(caught === thrown)
        }
    }

    @Test func `a resolution error that a factory throws again keeps its path`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                _ = try await r.resolve(B.self); return A()
            }
        }
        let original = await #expect(throws: ResolutionError.self) { try await container.resolve(A.self) }
        let other = Container {
            Registration(X.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Y.self); return X()
            }
            Registration(Y.self) { _ in throw original! }
        }
        let caught = await #expect(throws: ResolutionError.self) { try await other.resolve(X.self) }
        #expect(caught?.names == ["A", "B"])
        #expect(caught?.description == original?.description)
    }

    @Test func `a factory may catch a dependency's error, and go another way`() async throws {
        let container = Container {
            Registration(A.self, lifetime: .singleton) { r in
                do {
                    _ = try await r.resolve(B.self)
                } catch ResolutionError.Code.notRegistered {
                    _ = try await r.resolve(C.self)
                }
                return A()
            }
            Registration(C.self) { _ in C() }
        }
        _ = try await container.resolve(A.self)
    }
}
