import Testing

@testable import AsyncDI

/// The task behind `@InjectState`.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct InjectionLoaderTests {
    private struct Failure: Error {}

    /// A container whose one service a test makes by hand.
    private struct Driven {
        let factory = DrivenFactory<Int>()
        let container: Container

        init() {
            container = Container { [factory] in
                Registration(Int.self, lifetime: .singleton) { _ in try await factory.run() }
                    .whenAbandoned(.finish)
            }
        }
    }

    private let query = InjectionQuery(Int.self, qualifier: nil)
    private let changes = Gate()

    private func update(_ loader: InjectionLoader<Int>, from container: Container?) {
        loader.update(query, from: container) { [changes] in changes.arrive() }
    }

    private func isLoading(_ loader: InjectionLoader<Int>) -> Bool {
        if case .loading = loader.phase { true } else { false }
    }

    @Test func `a service is loaded once, however often the view is updated`() async {
        let driven = Driven()
        let loader = InjectionLoader<Int>()
        update(loader, from: driven.container)
        update(loader, from: driven.container)
        await driven.factory.began()
        update(loader, from: driven.container)
        #expect(isLoading(loader))
        driven.factory.answer(1)
        await changes.arrived()
        #expect(loader.phase.service == 1)
        update(loader, from: driven.container)
        #expect(loader.phase.service == 1)
        #expect(driven.factory.count == 1)
        #expect(changes.arrivals == 1)
    }

    @Test func `another container's service takes the place of the one under way`() async {
        let (old, new) = (Driven(), Driven())
        let loader = InjectionLoader<Int>()
        update(loader, from: old.container)
        await old.factory.began()
        update(loader, from: new.container)
        await new.factory.began()
        new.factory.answer(2)
        await changes.arrived()
        old.factory.answer(1)
        #expect((try? await old.container.resolve(Int.self)) == 1, "somebody else gets it")
        #expect(loader.phase.service == 2)
        #expect(changes.arrivals == 1)
    }

    @Test func `a failure is shown, and a retry loads again`() async {
        let driven = Driven()
        let loader = InjectionLoader<Int>()
        update(loader, from: driven.container)
        driven.factory.fail(Failure())
        await changes.arrived()
        #expect(loader.phase.error is Failure)
        update(loader, from: driven.container)
        #expect(driven.factory.count == 1, "not by itself")
        loader.retry { [changes] in changes.arrive() }
        loader.retry { [changes] in changes.arrive() }
        #expect(isLoading(loader))
        update(loader, from: driven.container)
        driven.factory.answer(1, run: 1)
        await changes.arrived(2)
        #expect(loader.phase.service == 1)
        #expect(driven.factory.count == 2)
    }

    @Test func `without a container the failure says so`() async {
        let loader = InjectionLoader<Int>()
        update(loader, from: nil)
        await changes.arrived()
        #expect((loader.phase.error as? ResolutionError)?.code == .noCurrentContainer)
    }

    @Test func `arguments reach the factory`() async {
        let container = Container { Registration(Int.self, lifetime: .multiton) { (_, a: Int, b: Int) in a + b } }
        let loader = InjectionLoader<Int>()
        loader.update(InjectionQuery(Int.self, qualifier: nil, arguments: 1, 2), from: container) { [changes] in
            changes.arrive()
        }
        await changes.arrived()
        #expect(loader.phase.service == 3)
    }

    @Test func `a loader that goes away leaves no task`() async {
        let ended = Gate()
        let begun = Gate()
        let container = Container {
            Registration(Int.self) { _ in
                begun.arrive()
                defer { ended.arrive() }
                try await untilCancelled()
                return 1
            }
        }
        var loader: InjectionLoader<Int>? = InjectionLoader<Int>()
        update(loader!, from: container)
        await begun.arrived()
        weak let held = loader
        loader = nil
        #expect(held == nil, "its task does not hold it")
        await ended.arrived()
        #expect(changes.arrivals == 0)
    }
}
