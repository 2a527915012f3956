import AsyncDI
import Testing

@testable import AsyncDITesting

private func expectRefusal(by container: Locked<Container?>) async {
    let container = container.withLock { $0 }
    let error = await #expect(throws: ResolutionError.self) { try await container?.resolve(String.self) }
    #expect(error?.code == .disposed)
}

/// A service that requests another one later.
private struct Later: Sendable {
    let text: Lazy<String>
}

@Suite(.timeLimit(.minutes(10)))
struct LateRequestTests {
    @Test(arguments: ["dependency", "own", "given"])
    func `a Lazy that is called after the end of the test is reported`(kind: String) async throws {
        let log = Log<TestReport>()
        let (gate, reported) = (Gate(), Gate())
        let late = try await withTestContainer(report: {
            log.append($0)
            reported.open()
        }) {
            Registration(String.self, lifetime: .singleton) { _ in "text" }
            Registration(using: Later.init(text:))
        } operation: { container in
            let text =
                switch kind {
                case "dependency": try await container.resolve(Later.self).text
                case "own": Lazy(String.self)
                default: Lazy(String.self, from: container)
                }
            return Task {
                await gate.wait()
                let error = await #expect(throws: ResolutionError.self) { try await text() }
                #expect(error?.code == .disposed)
            }
        }
        #expect(log.all.isEmpty)
        gate.open()
        await late.value
        await reported.wait()
        #expect(log.all.map(\.kind) == [.lateRequest])
        #expect(log.all.first?.message.hasPrefix("String was requested after the test had ended") == true)
    }

    @Test func `a request of a factory or hook that winds down is no late one`() async throws {
        final class Refusals: ContainerInterceptor {
            let log = Log<String>()
            var wantedEvents: ContainerEvent.Kinds { [] }
            func didRefuse(_ key: ServiceKey) { log.append("\(key)") }
        }
        let refusals = Refusals()
        let (begun, gate) = (Gate(), Gate())
        let asked = Locked<Container?>(nil)
        let container = Container(observers: [refusals]) {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                await expectRefusal(by: asked)
            }
            Registration(Int.self, lifetime: .singleton) { r in
                begun.open()
                await gate.wait()
                await expectRefusal(by: asked)
                return try await r.resolve(String.self).count
            }
        }
        asked.withLock { $0 = container }
        _ = try await container.resolve(Ledger.self)
        let late = Task { try await container.resolve(Int.self) }
        await begun.wait()
        async let disposal: Void = container.dispose()
        // The request is refused as soon as the disposal has begun.
        await #expect(throws: ResolutionError.self) { try await late.value }
        gate.open()
        try await disposal
        #expect(refusals.log.all.isEmpty)
        await expectRefusal(by: asked)
        #expect(refusals.log.all == ["String"])
        asked.withLock { $0 = nil }
    }

    @Test(arguments: [Lifetime.graph, .transient])
    func `a factory that runs in a task which outlives the test is reported`(lifetime: Lifetime) async throws {
        let log = Log<TestReport>()
        let (begun, gate, reported) = (Gate(), Gate(), Gate())
        let late = try await withTestContainer(report: {
            log.append($0)
            reported.open()
        }) {
            Registration(String.self, lifetime: .singleton) { _ in "text" }
            Registration(Int.self, lifetime: lifetime) { resolver in
                begun.open()
                await gate.wait()
                return try await resolver.resolve(String.self).count
            }
        } operation: { container in
            let task = Task { try await container.resolve(Int.self) }
            await begun.wait()
            return task
        }
        gate.open()
        await #expect(throws: ResolutionError.self) { try await late.value }
        await reported.wait()
        #expect(log.all.map(\.kind) == [.lateRequest])
    }

    @Test func `a task that the test has cancelled may find the container closed`() async throws {
        let log = Log<TestReport>()
        let gate = Gate()
        let late = try await withTestContainer(report: { log.append($0) }) {
            Registration(String.self, lifetime: .singleton) { _ in "text" }
        } operation: { container in
            let task = Task {
                await gate.wait()
                _ = try await container.resolve(String.self)
            }
            task.cancel()
            return task
        }
        gate.open()
        await #expect(throws: (any Error).self) { try await late.value }
        for _ in 0..<100 { await Task.yield() }
        #expect(log.all.isEmpty)
    }
}
