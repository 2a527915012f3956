import Foundation
import Testing

@testable import AsyncDI

private final class Store: Sendable {}
private final class Holder: Sendable {
    let store: Lazy<Store>
    init(_ store: Lazy<Store>) { self.store = store }
}
private struct First: Sendable {}
private struct Second: Sendable {}
private struct Third: Sendable {}
private struct Failure: Error {}

/// Waits through the `Lazy` of another instance, and for graph instances: whose time they are.
@Suite(.timeLimit(.minutes(10))) struct LazyWaitTests {
    /// Keeps the own times of creations, and the stalls.
    private final class Times: ContainerObserver {
        let own = Locked<[String: Duration?]>([:])
        let stalls = Log<String>()
        let stallThreshold = Duration.seconds(5)
        var wantedEvents: ContainerEvent.Kinds { [.created, .stalled] }

        func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
            if case .created(let key, _, _) = event { own.withLock { $0["\(key)"] = details.ownDuration } }
            if case .stalled = event { stalls.append("\(event)") }
        }
    }

    private let clock = ManualClock()
    private let times = Times()
    private let store = Gate()
    private let joining = Gate()

    /// Two services call the `Lazy` of a third one, one of them after the other.
    private func container(failing: Bool = false) -> Container {
        let (store, joining) = (store, joining)
        return Container(name: "app", observers: [times], clock: clock) {
            Registration(Store.self, lifetime: .singleton) { _ in
                await store.pass()
                if failing { throw Failure() }
                return Store()
            }
            Registration(Holder.self, lifetime: .singleton) { Holder(try await $0.resolve()) }
            Registration(First.self, lifetime: .singleton) { resolver in
                _ = try? await resolver.resolve(Holder.self).store()
                return First()
            }
            .eager()
            Registration(Second.self, lifetime: .singleton) { resolver in
                await joining.pass()
                _ = try await resolver.resolve(Holder.self).store()
                return Second()
            }
            .eager()
        }
    }

    /// Lets the second service join the call of the first one, and the store be made after some time.
    private func run(_ container: Container, for duration: Duration) async {
        await store.arrived()
        joining.open()
        let second = { (wait: ActivitySnapshot.Creation) in "\(wait.instance.key)" == "Second" && !wait.waits.isEmpty }
        while !container.activity().creations.contains(where: second) { await Task.yield() }
        clock.advance(by: duration)
    }

    @Test func `the time of both callers leaves out the wait, and the critical path has the store`() async throws {
        let container = container()
        let start = Task { try await container.start() }
        await run(container, for: .seconds(4))
        let waits = container.activity().creations.map { "\($0.instance.key): \($0.waits.map(\.target))" }
        #expect(Set(waits) == ["First: [\"Store\"]", "Second: [\"Store\"]", "Store: []"])
        store.open()
        let report = try await start.value
        let own = Dictionary(report.services.map { ("\($0.key)", $0.ownDuration) }) { $1 }
        #expect(own["First"] == .zero)
        #expect(own["Second"] == .zero)
        #expect(own["Store"] == .seconds(4))
        #expect(report.criticalPath.first.map { "\($0.key)" } == "Store")
        #expect(report.services.first { "\($0.key)" == "Second" }?.dependencies == [ServiceKey(Store.self)])
        await container.deliverEvents()
        #expect(times.own.withLock { $0["First"] } == .some(.zero))
        #expect(times.own.withLock { $0["Second"] } == .some(.zero))
    }

    @Test func `a failure leads from the second caller to the store`() async throws {
        let container = container(failing: true)
        let start = Task { try await container.start() }
        await run(container, for: .seconds(1))
        store.open()
        await #expect(throws: Failure.self) { try await start.value }
        #expect(container.startFailure?.path.map { "\($0)" } == ["Second", "Store"])
    }

    @Test func `a stall names the callers of the Lazy and its service`() async throws {
        let container = container()
        let start = Task { try await container.start() }
        await run(container, for: .seconds(5))
        let expected: Set = [
            "stalled: First has been waiting", "stalled: Second has been waiting",
            "stalled: a request has been waiting",
        ]
        var pairs: Set<String> { Set(times.stalls.entries.map { $0.components(separatedBy: " for ")[0] }) }
        // A request is counted as a waiter before it is watched: the time passes until each has been.
        while pairs.count < expected.count {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        store.open()
        _ = try await start.value
        #expect(pairs == expected)
        #expect(times.stalls.entries.allSatisfy { !$0.contains("Lazy") })
    }

    @Test func `a graph instance that two parameters need is made in the own time of their service`() async throws {
        let (clock, gate) = (clock, Gate())
        let container = Container(name: "app", observers: [times], clock: clock) {
            Registration(Store.self) { _ in
                await gate.pass()
                return Store()
            }
            Registration(First.self) { resolver in
                _ = try await resolver.resolve(Store.self)
                return First()
            }
            Registration(Second.self) { resolver in
                _ = try await resolver.resolve(Store.self)
                return Second()
            }
            Registration(using: { (_: First, _: Second) in Third() }, lifetime: .singleton).eager()
        }
        let start = Task { try await container.start() }
        await gate.arrived()
        clock.advance(by: .seconds(3))
        #expect(container.activity().creations.flatMap(\.waits).isEmpty)
        gate.open()
        let report = try await start.value
        #expect(report.services.map(\.ownDuration) == [.seconds(3)])
        await container.deliverEvents()
        #expect(times.own.withLock { $0["Third"] } == .some(.seconds(3)))
    }

    @Test func `requests of many scopes for one slow service are one report`() async throws {
        let (clock, times, gate) = (clock, times, Gate())
        let container = Container(name: "app", observers: [times], clock: clock) {
            Registration(Store.self, lifetime: .singleton) { _ in
                await gate.pass()
                return Store()
            }
        }
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await container.withScope("request \(number)") { _ = try await $0.resolve(Store.self) }
                }
            }
            await container.core.waiters(of: Store.self, reach: 20)
            // The watch of the waits, whose sleep would not end if it began after the advance.
            while !clock.hasSleepers { await Task.yield() }
            clock.advance(by: .seconds(6))
            while times.stalls.entries.isEmpty { await Task.yield() }
            gate.open()
            try await group.waitForAll()
        }
        try await container.dispose()
        #expect(times.stalls.entries == ["stalled: a request has been waiting for Store for 6 s"])
    }
}
