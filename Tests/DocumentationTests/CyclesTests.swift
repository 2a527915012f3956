import AsyncDI
import Synchronization
import Testing

/// The guide "Cycles", run.
@Suite(.timeLimit(.minutes(10)))
struct CyclesTests {
    @Test func `a cycle is an error with its path`() async throws {
        let container = Container {
            Registration(Kitchen.self, lifetime: .singleton) { r in try await Kitchen(waiter: r.resolve()) }
            Registration(Waiter.self, lifetime: .singleton) { r in try await Waiter(kitchen: r.resolve()) }
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Kitchen.self) }
        try Guide("Cycles").shows(error)
        try await container.dispose()
    }

    @Test func `a cycle through a property is made`() async throws {
        let container = Container {
            Registration(Parent.self, lifetime: .singleton) { r in try await Parent(child: r.resolve()) }
            Registration(Child.self, lifetime: .singleton) { _ in Child() }
                .injectProperties { r, child in await child.setParent(try await r.resolve()) }
        }
        let child = try await container.resolve(Child.self)
        let parent = try await container.resolve(Parent.self)
        #expect(parent.child === child)
        #expect(await child.parent === parent)
        try await container.dispose()
    }

    @Test func `asking later`() async throws {
        let container = Container {
            Registration(Desk.self, lifetime: .singleton) { r in Desk(resolver: r) }
            Registration(Bell.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Desk.self)
                return Bell(sound: "ding")
            }
        }
        #expect(try await container.resolve(Desk.self).ring() == "ding")
        try await container.dispose()
    }

    final class Kitchen: Sendable {
        let waiter: Waiter

        init(waiter: Waiter) { self.waiter = waiter }
    }

    final class Waiter: Sendable {
        let kitchen: Kitchen

        init(kitchen: Kitchen) { self.kitchen = kitchen }
    }

    final class Parent: Sendable {
        let child: Child

        init(child: Child) { self.child = child }
    }

    actor Child {
        private(set) weak var parent: Parent?

        func setParent(_ parent: Parent) { self.parent = parent }
    }

    struct Bell: Sendable {
        let sound: String
    }

    final class Desk: Sendable {
        private let resolver: Resolver

        init(resolver: Resolver) { self.resolver = resolver }

        func ring() async throws -> String { try await resolver.resolve(Bell.self).sound }
    }
}
