import Testing

@testable import AsyncDI

/// A storage that a lifetime gives again and again: what was invalidated in flight neither takes the place of its
/// successor nor clears it.
@Suite(.timeLimit(.minutes(10))) struct SharedStorageTests {
    /// A storage that notes its calls, and lets a test run before one of them.
    private final class Shelf: InstanceStorage {
        enum Event: Equatable, Sendable {
            case store(Int)
            case clear
        }

        private let contents: any InstanceStorage
        private let interruptions = Locked<[(event: Event, action: @Sendable () -> Void)]>([])
        let log = Log<Event>()

        init(isHeldWeakly: Bool = false) { contents = isHeldWeakly ? WeakStorage() : StrongStorage() }

        /// Does something once, when the storage is about to do this.
        func interrupt(_ event: Event, _ action: @escaping @Sendable () -> Void) {
            interruptions.withLock { $0.append((event, action)) }
        }

        private func begin(_ event: Event) {
            log.append(event)
            let action = interruptions.withLock { interruptions in
                interruptions.firstIndex { $0.event == event }.map { interruptions.remove(at: $0).action }
            }
            action?()
        }

        var number: Int? { (load() as? Thing)?.number }

        func load() -> (any Sendable)? { contents.load() }
        func store(_ instance: any Sendable) {
            begin(.store((instance as? Thing)?.number ?? -1))
            contents.store(instance)
        }
        func clear() {
            begin(.clear)
            contents.clear()
        }
    }

    /// A container with one service that a test makes, kept on one shelf whatever becomes of it.
    private final class Shop: Sendable {
        let shelf: Shelf
        let factory = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container: Container

        init(isHeldWeakly: Bool = false) {
            let shelf = Shelf(isHeldWeakly: isHeldWeakly)
            self.shelf = shelf
            container = Container { [factory, disposed] in
                Shop.registration(shelf, factory, disposed)
            }
        }

        private static func registration(
            _ shelf: Shelf, _ factory: DrivenFactory<Thing>, _ disposed: Log<Int>
        ) -> Registration<Thing> {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in try await factory.run() }
                .onDispose { disposed.append($0.number) }
        }

        /// Replaces the registration by an equal one, at once: creations in flight are invalidated.
        func replace() {
            do {
                try container.core.register(Shop.registration(shelf, factory, disposed).draft)
            } catch {
                Issue.record(error)
            }
        }

        func resolve() -> Task<Int, any Error> { Task { try await self.container.resolve(Thing.self).number } }

        func lease(until leave: Gate) -> Task<Int, any Error> {
            Task {
                try await self.container.withInstance(Thing.self) { thing in
                    await leave.pass()
                    return thing.number
                }
            }
        }

        func expectCurrent(_ number: Int, _ location: SourceLocation = #_sourceLocation) async throws {
            #expect(shelf.number == number, sourceLocation: location)
            #expect(try await container.resolve(Thing.self).number == number, sourceLocation: location)
        }
    }

    // MARK: Reset before the store

    @Test(arguments: [false, true], [false, true])
    func `an instance reset in flight is not stored, and does not clear its successor`(
        isReplaced: Bool, isHeldWeakly: Bool
    ) async throws {
        let shop = Shop(isHeldWeakly: isHeldWeakly)
        let old = shop.resolve()
        await shop.factory.began(1)
        if isReplaced { shop.replace() } else { try await shop.container.reset(Thing.self) }
        let new = shop.resolve()
        await shop.factory.began(2)
        let things = (Thing(1), Thing(2))
        shop.factory.answer(things.1, run: 1)
        #expect(try await new.value == 2)
        shop.factory.answer(things.0, run: 0)
        #expect(try await old.value == 1)
        try await shop.expectCurrent(2)
        #expect(shop.shelf.log.entries == [.clear, .store(2)])
        try await shop.container.dispose()
        withExtendedLifetime(things) {}
        #expect(shop.disposed.entries.sorted() == [1, 2])
        #expect(shop.shelf.number == nil)
    }

    @Test func `a creation reset in flight that ends first leaves the storage to its successor`() async throws {
        let shop = Shop()
        let old = shop.resolve()
        await shop.factory.began(1)
        try await shop.container.reset(Thing.self)
        let new = shop.resolve()
        await shop.factory.began(2)
        shop.factory.answer(Thing(1), run: 0)
        #expect(try await old.value == 1)
        #expect(shop.shelf.number == nil)
        shop.factory.answer(Thing(2), run: 1)
        #expect(try await new.value == 2)
        try await shop.expectCurrent(2)
        #expect(shop.factory.count == 2)
        try await shop.container.dispose()
        #expect(shop.disposed.entries.sorted() == [1, 2])
    }

    @Test(arguments: [false, true])
    func `a creation reset in flight that fails leaves the entry of its successor`(failsFirst: Bool) async throws {
        let shop = Shop()
        let old = shop.resolve()
        await shop.factory.began(1)
        try await shop.container.reset(Thing.self)
        let new = shop.resolve()
        await shop.factory.began(2)
        if failsFirst {
            shop.factory.fail(TestError(), run: 0)
            await #expect(throws: TestError.self) { try await old.value }
        }
        shop.factory.answer(Thing(2), run: 1)
        #expect(try await new.value == 2)
        if !failsFirst {
            shop.factory.fail(TestError(), run: 0)
            await #expect(throws: TestError.self) { try await old.value }
        }
        try await shop.expectCurrent(2)
        #expect(shop.container.core.withState { $0.instances.count } == 1)
        // It is known to the container: a reset clears and disposes it.
        try await shop.container.reset(Thing.self)
        #expect(shop.shelf.number == nil)
        #expect(shop.disposed.entries == [2])
        try await shop.container.dispose()
    }

    // MARK: Replaced during the store

    @Test func `a successor that is complete while its predecessor is stored is stored after it`() async throws {
        let shop = Shop()
        let successor = Locked<Task<Int, any Error>?>(nil)
        shop.shelf.interrupt(.store(1)) {
            shop.replace()
            shop.factory.answer(Thing(2), run: 1)
            let task = shop.resolve()
            successor.withLock { $0 = task }
            // Until it has come to the storage, which is busy: then one thing waits beside the clearing.
            while shop.container.core.withState({ $0.storageWork.waitingCount }) < 2 { yieldThread() }
        }
        try await takingAThread {
            let old = shop.resolve()
            shop.factory.answer(Thing(1), run: 0)
            #expect(try await old.value == 1)
            let task = try #require(successor.withLock { $0 })
            #expect(try await task.value == 2)
        }
        try await shop.expectCurrent(2)
        #expect(shop.shelf.log.entries == [.store(1), .clear, .store(2)])
        try await shop.container.dispose()
        #expect(shop.disposed.entries.sorted() == [1, 2])
    }

    @Test func `a request that comes while a replaced instance is being stored does not get it`() async throws {
        let shop = Shop()
        shop.shelf.interrupt(.store(1)) {
            shop.replace()
            // No reference exists any more; the storage does not have it yet either.
            #expect(throws: ResolutionError.self) { try shop.container.ready(Thing.self) }
        }
        shop.shelf.interrupt(.clear) {
            // The storage has the replaced instance.
            #expect(shop.shelf.number == 1)
            #expect(throws: ResolutionError.self) { try shop.container.ready(Thing.self) }
        }
        let old = shop.resolve()
        shop.factory.answer(Thing(1), run: 0)
        #expect(try await old.value == 1)
        #expect(shop.shelf.number == nil)
        try await shop.container.dispose()
        #expect(shop.disposed.entries == [1])
    }

    // MARK: Replaced after the store

    @Test func `a reset instance is cleared before its successor is stored, however late its clearing begins`()
        async throws
    {
        let shop = Shop()
        shop.factory.answer(Thing(1), run: 0)
        #expect(try await shop.resolve().value == 1)
        let successor = Locked<Task<Int, any Error>?>(nil)
        shop.shelf.interrupt(.clear) {
            shop.factory.answer(Thing(2), run: 1)
            let task = shop.resolve()
            successor.withLock { $0 = task }
            // It waits for the disposal of its predecessor, which comes after the clearing.
            while shop.container.core.waiterCount(of: Thing.self) < 1 { yieldThread() }
        }
        try await takingAThread {
            try await shop.container.reset(Thing.self)
            let task = try #require(successor.withLock { $0 })
            #expect(try await task.value == 2)
        }
        try await shop.expectCurrent(2)
        #expect(shop.shelf.log.entries == [.store(1), .clear, .store(2)])
        #expect(shop.disposed.entries == [1])
        try await shop.container.dispose()
    }

    // MARK: Several, leases, dropped containers

    @Test func `after resets in flight only the instance of the last creation is stored, whatever the order`()
        async throws
    {
        for seed in 0..<30 {
            var random = SeededRandom(seed: UInt64(seed))
            let shop = Shop()
            var tasks: [Task<Int, any Error>] = []
            for run in 0..<4 {
                tasks.append(shop.resolve())
                await shop.factory.began(run + 1)
                if run < 3 { try await shop.container.reset(Thing.self) }
            }
            for run in (0..<4).shuffled(using: &random) {
                if run < 3, random.chance(0.3) {
                    shop.factory.fail(TestError(run), run: run)
                    await #expect(throws: TestError(run)) { try await tasks[run].value }
                } else {
                    shop.factory.answer(Thing(run), run: run)
                    #expect(try await tasks[run].value == run, "seed \(seed)")
                }
            }
            try await shop.expectCurrent(3)
            #expect(shop.shelf.log.entries.filter { $0 != .clear } == [.store(3)], "seed \(seed)")
            try await shop.container.dispose()
            #expect(Set(shop.disposed.entries).count == shop.disposed.entries.count, "seed \(seed)")
        }
    }

    @Test func `a lease of an instance reset in flight holds it, and its disposal follows the lease`() async throws {
        let shop = Shop()
        let leave = Gate()
        let old = shop.lease(until: leave)
        await shop.factory.began(1)
        try await shop.container.reset(Thing.self)
        let leaveNew = Gate()
        let new = shop.lease(until: leaveNew)
        await shop.factory.began(2)
        shop.factory.answer(Thing(2), run: 1)
        await leaveNew.arrived()
        shop.factory.answer(Thing(1), run: 0)
        await leave.arrived()
        try await shop.expectCurrent(2)
        #expect(shop.disposed.entries.isEmpty)
        leave.open()
        #expect(try await old.value == 1)
        while shop.disposed.entries != [1] { await Task.yield() }
        leaveNew.open()
        #expect(try await new.value == 2)
        try await shop.expectCurrent(2)
        try await shop.container.dispose()
        #expect(shop.disposed.entries == [1, 2])
    }

    @Test func `a lease keeps its own instance when the instance is replaced while it is stored`() async throws {
        let shop = Shop()
        shop.shelf.interrupt(.store(1)) { shop.replace() }
        let leave = Gate()
        let old = shop.lease(until: leave)
        shop.factory.answer(Thing(1), run: 0)
        await leave.arrived()
        shop.factory.answer(Thing(2), run: 1)
        #expect(try await shop.resolve().value == 2)
        #expect(shop.disposed.entries.isEmpty)
        leave.open()
        #expect(try await old.value == 1)
        while shop.disposed.entries != [1] { await Task.yield() }
        try await shop.expectCurrent(2)
        try await shop.container.dispose()
    }

    @Test func `a container that is dropped while an instance is stored leaves nothing in the storage`() async throws {
        let shelf = Shelf()
        let factory = DrivenFactory<Thing>()
        let dropped = Locked<Container?>(nil)
        func make() -> Container {
            Container {
                Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in try await factory.run() }
                    .whenAbandoned(.finish)
            }
        }
        var container: Container? = make()
        let core = container!.core
        let asker = Task { [container] in try await container!.resolve(Thing.self) }
        await factory.began()
        asker.cancel()
        _ = await asker.result
        dropped.withLock { $0 = container }
        container = nil
        let isOver = Gate()
        shelf.interrupt(.store(1)) {
            dropped.withLock { $0 = nil }
            isOver.arrive()
        }
        factory.answer(Thing(1))
        await isOver.arrived()
        while core.withState({ !$0.flights.isEmpty }) { await Task.yield() }
        while shelf.number != nil { await Task.yield() }
        #expect(core.table.isClosed)
    }
}
