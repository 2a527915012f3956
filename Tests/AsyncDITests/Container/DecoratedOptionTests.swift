import Testing

@testable import AsyncDI

private protocol Numbered: Sendable { var number: Int { get } }
extension Thing: Numbered {}
private struct Marked: Numbered { let number: Int }

/// Options of a registration where a decoration wraps another type or an inherited service.
@Suite(.timeLimit(.minutes(10))) struct DecoratedOptionTests {
    enum Place: CaseIterable { case ownService, forwardedType, inheritedService, replacedService }

    @Test(arguments: Place.allCases)
    func `with finish, an abandoned creation runs on in its decoration`(place: Place) async throws {
        let (decorator, cancelled) = (DrivenFactory<Int>(), Counter())
        @Sendable nonisolated(nonsending) func decorate() async throws -> Int {
            let number = try await decorator.run()
            if Task.isCancelled { cancelled.increment() }
            return number
        }
        let ofThing = Decoration(Thing.self) { _, _ in Thing(try await decorate()) }
        func registration() -> Registration<Thing> {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }.implements((any Numbered).self)
        }
        let root = Container {
            if place == .replacedService { registration() } else { registration().whenAbandoned(.finish) }
            if place == .ownService { ofThing }
            if place == .forwardedType || place == .replacedService {
                Decoration((any Numbered).self) { _, _ in Marked(number: try await decorate()) }
            }
        }
        if place == .replacedService { try await root.register(registration().whenAbandoned(.finish)) }
        let container = place == .inheritedService ? Container(parent: root) { ofThing } : root
        let isOfType = place == .forwardedType || place == .replacedService
        let request = Task {
            isOfType ? try await container.resolve((any Numbered).self) : try await container.resolve(Thing.self)
        }
        await decorator.began()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        decorator.answer(7)
        let kept: any Numbered =
            isOfType ? try await container.resolve((any Numbered).self) : try await container.resolve(Thing.self)
        #expect(kept.number == 7)
        #expect(decorator.count == 1 && cancelled.value == 0)
        try await root.dispose()
    }

    @Test(arguments: [false, true])
    func `a start creates the decorated types of eager services, and no other forwarded types`(
        isDecorated: Bool
    ) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }.eager().implements((any Numbered).self)
            if isDecorated { Decoration((any Numbered).self) { _, inner in Marked(number: inner.number + 1) } }
        }
        try await container.validate()
        let report = try await container.start()
        #expect(try container.ready((any Numbered).self).number == (isDecorated ? 2 : 1))
        let created = report.services.filter(\.isCreated).map(\.key.description)
        #expect(created.sorted() == (isDecorated ? ["Numbered", "Thing"] : ["Thing"]))
        try await container.dispose()
    }

    @Test func `the decoration of a supplied value belongs to the scope that requests it`() async throws {
        let container = Container {
            Registration(expected: Thing.self).implements((any Numbered).self)
            Decoration((any Numbered).self) { _, inner in Thing(inner.number + 1) }
        }
        for number in 1...2 {
            try await container.withScope {
                Registration(instance: Thing(number))
            } operation: { scope in
                let first = try await scope.resolve((any Numbered).self)
                #expect(try await scope.resolve((any Numbered).self) as? Thing === first as? Thing)
                #expect(try scope.ready((any Numbered).self) as? Thing === first as? Thing)
                #expect(first.number == number + 1)
            }
        }
        await expect(.notRegistered) { try await container.resolve((any Numbered).self) }
        #expect(try await container.optional((any Numbered).self) == nil)
        try await container.dispose()
    }
}
