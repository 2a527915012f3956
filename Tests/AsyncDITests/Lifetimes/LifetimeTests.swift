import Testing

@testable import AsyncDI

/// Equality of lifetimes, and the properties of each.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
    private static let different: [Lifetime] = [
        .transient, .graph, .scoped, .singleton, .multiton, .weak, Lifetime("session"), Lifetime("other"),
        Lifetime("session", ownedBy: .resolvingContainer), Lifetime("singleton"), Lifetime("multiton"), Lifetime(""),
    ]

    @Test func `lifetimes are the same when name, owner and kind are`() {
        for (index, first) in Self.different.enumerated() {
            for (other, second) in Self.different.enumerated() { #expect((first == second) == (index == other)) }
        }
        #expect(Set(Self.different + Self.different).count == Self.different.count)
    }

    @Test func `a name of one's own, said twice, is one lifetime`() {
        #expect(Lifetime("session") == Lifetime("session"))
        #expect(Lifetime("session").hashValue == Lifetime("session").hashValue)
        #expect(Lifetime("session") == Lifetime("session", ownedBy: .registeringContainer))
    }

    @Test func `storage and bounds are no part of it`() {
        let stored = Lifetime("session", storage: { StrongStorage() })
        #expect(stored == Lifetime("session"))
        #expect(stored.hashValue == Lifetime("session").hashValue)
        #expect(stored == Lifetime("session", storage: { WeakStorage() }))
        #expect(Lifetime.multiton(capacity: 3) == .multiton)
        #expect(Lifetime.multiton(capacity: 3).hashValue == Lifetime.multiton.hashValue)
        #expect(Lifetime.multiton(idle: .seconds(1)) == .multiton(weak: true))
    }

    @Test func `a lifetime is described by its name`() {
        #expect(Lifetime.singleton.description == "singleton")
        #expect("\(Lifetime("session"))" == "session")
        #expect(Lifetime.multiton(capacity: 1).name == "multiton")
    }

    @Test func `each lifetime says where its instances are shared`() {
        #expect(Lifetime.transient.sharing == .none)
        #expect(Lifetime.graph.sharing == .graph)
        for lifetime in [.scoped, Lifetime("x", ownedBy: .resolvingContainer)] {
            #expect(lifetime.sharing == .resolvingContainer)
        }
        for lifetime in [.singleton, .multiton, .weak, Lifetime("x")] {
            #expect(lifetime.sharing == .registeringContainer)
        }
    }

    @Test func `singletons, multitons and weak instances outlive scopes, and no others`() {
        #expect(Self.different.filter(\.outlivesScopes) == [.singleton, .multiton, .weak])
    }

    @Test func `the container owns instances that it holds strongly and for itself`() {
        #expect(Self.different.filter { !$0.ownsInstances } == [.transient, .graph, .weak])
        #expect(!Lifetime.multiton(weak: true).ownsInstances)
        #expect(Lifetime.multiton(capacity: 1).ownsInstances)
        #expect(Self.different.filter(\.isWeak) == [.weak])
        #expect(Lifetime.multiton(weak: true).isWeak)
    }

    @Test func `bounds are kept`() {
        let bounds = Lifetime.multiton(capacity: 5, idle: .seconds(2), weak: true).bounds
        #expect(bounds.capacity == 5 && bounds.idle == .seconds(2) && bounds.isWeak)
        #expect(bounds.needsOrder)
        #expect(!Lifetime.multiton.bounds.needsOrder)
        #expect(!Lifetime.multiton(weak: true).bounds.needsOrder)
        #expect(Lifetime.multiton(idle: .zero).bounds.needsOrder)
    }

    @Test func `each use of a custom storage makes another one`() {
        let lifetime = Lifetime("session", storage: { StrongStorage() })
        let storages = [lifetime.makeStorage?(), lifetime.makeStorage?()]
        #expect(storages[0] != nil && storages[0] !== storages[1])
        #expect(Lifetime("session").makeStorage == nil)
    }
}
