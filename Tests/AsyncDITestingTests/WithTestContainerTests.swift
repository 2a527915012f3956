import AsyncDI
import Testing

@testable import AsyncDITesting

@Suite(.timeLimit(.minutes(10)))
struct WithTestContainerTests {
    @Test func `the body has the container, and its result is returned`() async throws {
        var count = 0
        let name = try await withTestContainer {
            ShopModule()
        } overrides: {
            Registration((any Gateway).self, instance: FakeGateway())
        } operation: { container in
            count += 1
            #expect(try Container.test === container)
            return try await resolve(Checkout.self).gateway.name
        }
        #expect(name == "fake")
        #expect(count == 1)
        #expect(throws: TestContainerError.self) { try Container.test }
    }

    @Test func `a test that does everything right gets no report`() async throws {
        let found = try await reports(.start, .reportingLeaks) {
            ShopModule()
        } overrides: {
            Registration((any Gateway).self) { _ in FakeGateway() }
            Registration(String.self, qualifier: "host", instance: "example.org")
        } in: { container in
            _ = try await container.resolve(Checkout.self)
            #expect(try container.ready(String.self, qualifier: "host") == "example.org")
            _ = try await container.resolve(Ledger.self)
        }
        #expect(found.isEmpty)
    }

    @Test func `an override that replaces nothing is reported at its line, with similar registrations`() async throws {
        let line: UInt = #line + 2
        let found = try await reports {
            Registration(String.self, qualifier: "hots", instance: "example.org")
        }
        #expect(found.isEmpty, "the only registrations of a container override nothing")
        let overridden = try await reports(overrides: {
            Registration(String.self, qualifier: "hots", instance: "example.org")
        })
        let report = try #require(overridden.first)
        #expect(overridden.count == 1)
        #expect(report.kind == .overrideOfNothing && !report.isWarning)
        #expect(report.site == RegistrationSite(fileID: #fileID, line: line + 4))
        #expect(report.message.contains("String[hots] replaces nothing"))
        #expect(report.message.contains("Registered are String[host]"))
        #expect(report.message.contains(".allowing(.overrideOfNothing, because: "))
    }

    private enum Cart {
        struct Item: Sendable {}
    }

    @Test func `an override of nothing is called by its whole name`() async throws {
        let overridden = try await reports {
            Registration(instance: "")
        } overrides: {
            Registration(instance: Cart.Item())
        }
        #expect(overridden.count == 1)
        #expect(overridden.first?.message.contains("Nothing is registered for Cart.Item.") == true)
    }

    @Test func `an override of an implemented type replaces the instance behind it`() async throws {
        let found = try await reports {
            Registration(RealGateway.self, lifetime: .singleton) { _ in RealGateway() }.implements((any Gateway).self)
        } overrides: {
            Registration((any Gateway).self, instance: FakeGateway())
        } in: { container in
            let gateway = try await container.resolve((any Gateway).self)
            #expect(gateway.name == "fake")
        }
        #expect(found.isEmpty)
    }

    @Test func `an override by an instance of a decorated service is used`() async throws {
        let found = try await reports {
            Registration(String.self, lifetime: .singleton) { _ in "real" }
            Decoration(String.self) { _, text in "decorated \(text)" }
        } overrides: {
            Registration(String.self, instance: "fake")
        } in: { container in
            let text = try await container.resolve(String.self)
            #expect(text == "decorated fake")
        }
        #expect(found.isEmpty)
    }

    @Test func `an override that nothing resolves is a warning, unless the body throws`() async throws {
        let found = try await reports(overrides: {
            Registration(String.self, qualifier: "host", instance: "example.org")
            Registration((any Gateway).self) { _ in FakeGateway() }
        })
        #expect(found.map(\.kind) == [.unusedOverride, .unusedOverride])
        #expect(found.map(\.isWarning) == [true, true])
        let log = Log<TestReport>()
        await #expect(throws: TestError.self) {
            try await withTestContainer(report: { log.append($0) }) {
                ShopModule()
            } overrides: {
                Registration(String.self, qualifier: "host", instance: "example.org")
            } operation: { _ in
                throw TestError()
            }
        }
        #expect(log.all.isEmpty)
    }

    @Test func `a value that scopes supply is no unused override`() async throws {
        let found = try await reports {
            Registration(String.self) { _ in "real" }
        } overrides: {
            Registration(expected: String.self)
        } in: { container in
            let text = try await container.withScope {
                Registration(instance: "supplied")
            } operation: { scope in
                try await scope.resolve(String.self)
            }
            #expect(text == "supplied")
        }
        #expect(found.isEmpty)
    }

    @Test func `a hook that throws at the end is reported, with its error and its line`() async throws {
        let line: UInt = #line + 2
        let found = try await reports {
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in
                throw TestError(number: 7)
            }
        } in: {
            _ = try await $0.resolve(Ledger.self)
        }
        #expect(found.map(\.kind) == [.failedDisposal])
        #expect(found.first?.site?.line == line)
        #expect(found.first?.message.contains("TestError(number: 7)") == true)
    }

    @Test func `a hook that throws in the background is reported`() async throws {
        let line: UInt = #line + 2
        let found = try await reports {
            Registration(Ledger.self, lifetime: .multiton(capacity: 1)) { (_, _: Int) in Ledger() }
                .onDispose { _ in throw TestError(number: 8) }
            Registration(String.self, lifetime: .scoped) { _ in "a" }.onDispose { _ in throw TestError(number: 9) }
        } in: { container in
            _ = try await container.resolve(Ledger.self, arguments: 1)
            _ = try await container.resolve(Ledger.self, arguments: 2)  // evicts the first one
            // The body's error is the caller's, not that of the hook.
            await #expect(throws: TestError(number: 1)) {
                try await container.withScope {
                    _ = try await $0.resolve(String.self)
                    throw TestError(number: 1)
                }
            }
            // An error that the caller gets is not reported.
            await #expect(throws: DisposalError.self) { try await container.reset() }
        }
        #expect(found.map(\.kind) == [.failedDisposal, .failedDisposal])
        let first = try #require(found.first { $0.message.contains("TestError(number: 8)") })
        #expect(first.site?.line == line && first.message.contains("threw at a disposal in the background"))
        #expect(found.contains { $0.message.contains("TestError(number: 9)") })
    }

    @Test func `a hook's error that the body was told of is the body's own`() async throws {
        let found = try await reports {
            Registration(Ledger.self, lifetime: .scoped) { _ in Ledger() }.onDispose { _ in throw TestError() }
        } in: { container in
            await #expect(throws: TestError.self) {
                try await container.withScope { _ = try await $0.resolve(Ledger.self) }
            }
        }
        #expect(found.isEmpty)
    }

    @Test func `an instance that outlives its container is reported by its key, once`() async throws {
        let kept = Log<Ledger>()
        let found = try await Patience.$clock.withValue(ImpatientClock()) {
            try await reports(.reportingLeaks) {
                Registration(Ledger.self, lifetime: .transient) { _ in Ledger() }
            } in: { container in
                kept.append(try await container.resolve(Ledger.self))
            }
        }
        #expect(found.map(\.kind) == [.livingInstance])
        #expect(found.first?.message.contains("An instance of Ledger is still alive") == true)
        let unasked = try await reports(in: { kept.append(try await $0.resolve(Ledger.self)) })
        #expect(unasked.isEmpty)
    }

    @Test func `a request of a task that outlives the body is reported`() async throws {
        let log = Log<TestReport>()
        let gate = Gate()
        let arrived = Gate()
        let late = try await withTestContainer(report: {
            log.append($0)
            arrived.open()
        }) {
            ShopModule()
        } operation: { container in
            Task {
                await gate.wait()
                await #expect(throws: ResolutionError.self) { try await container.resolve(Ledger.self) }
            }
        }
        #expect(log.all.isEmpty)
        gate.open()
        await late.value
        await arrived.wait()
        #expect(log.all.map(\.kind) == [.lateRequest])
        let message = try #require(log.all.first?.message)
        #expect(message.hasPrefix("Ledger was requested after the test had ended"))
    }

    @Test func `a request that a scope refuses before the end of the test is not reported`() async throws {
        let found = try await reports(in: { container in
            let scope = try await container.openScope("early")
            try await scope.dispose()
            await #expect(throws: ResolutionError.self) { try await scope.resolve(Ledger.self) }
        })
        #expect(found.isEmpty)
    }

    @Test func `a creation, a lease and a scope that the test leaves behind are reported`() async throws {
        let (gate, begun, leased, opened) = (Gate(), Gate(), Gate(), Gate())
        let log = Log<TestReport>()
        let line: UInt = #line + 8
        // The test's end waits no time for them.
        try await Patience.$clock.withValue(ImpatientClock()) {
            try await withTestContainer(report: {
                log.append($0)
                // The disposal of the container waits for them.
                gate.open()
            }) {
                Registration(Ledger.self, lifetime: .singleton) { _ in
                    begun.open()
                    await gate.wait()
                    return Ledger()
                }
                Registration(String.self, lifetime: .multiton) { (_, name: String) in name }
            } operation: { container in
                Task { try await container.resolve(Ledger.self) }
                Task {
                    try await container.withInstance(String.self, arguments: "acme") { _ in
                        leased.open()
                        await gate.wait()
                    }
                }
                Task {
                    try await container.withScope("request") { _ in
                        opened.open()
                        await gate.wait()
                    }
                }
                try await container.openScope("se\nssion")
                for gate in [begun, leased, opened] { await gate.wait() }
            }
        }
        let found = log.all
        #expect(found.map(\.kind).filter { $0 != .openScope } == [.unfinishedCreation, .openLease])
        #expect(found.count { $0.kind == .openScope } == 2)
        #expect(found.first?.site == RegistrationSite(fileID: #fileID, line: line))
        #expect(found.first?.message.hasPrefix("Ledger (AsyncDITestingTests/") == true)
        #expect(found.contains { $0.message.contains("\"se\\nssion\" of container \"test\" is still open") })
        #expect(found.contains { $0.message.hasPrefix("String(\"acme\")") || $0.message.hasPrefix("String(acme)") })
    }

    @Test func `each report has an option that switches it off`() async throws {
        let gate = Gate()
        let kept = Log<Ledger>()
        let found = try await reports(
            .allowing(.overrideOfNothing, .unusedOverride, .failedDisposal, .livingInstance, because: "a test"),
            .reportingLeaks
        ) {
            Registration(Int.self, instance: 1)
            Registration(Ledger.self, lifetime: .singleton) { _ in Ledger() }.onDispose { _ in throw TestError() }
        } overrides: {
            Registration(Int.self, qualifier: "missing", instance: 1)
            Registration(Int.self, instance: 2)
        } in: {
            kept.append(try await $0.resolve(Ledger.self))
        }
        gate.open()
        #expect(found.isEmpty)
    }

    @Test(arguments: [false, true]) func `nothing keeps a session alive`(fails: Bool) async throws {
        final class Observer: ContainerObserver {
            let end: Gate
            init(end: Gate) { self.end = end }
            deinit { end.open() }
        }
        let end = Gate()
        func makeOptions() -> TestContainerOption { .observer(Observer(end: end)) }
        try await withTestContainer(makeOptions()) {
            ShopModule()
            Registration(Int.self, lifetime: .singleton) { r in Int(try await r.resolve(Double.self)) }
        } operation: { container in
            _ = try await container.resolve(Checkout.self)
            if fails { await #expect(throws: ResolutionError.self) { try await container.resolve(Int.self) } }
        }
        // The container and its observers are gone.
        await end.wait()
    }

    @Test func `the options make the container`() async throws {
        let log = Log<String>()
        struct Observer: ContainerObserver {
            let log: Log<String>
            func container(_ container: Container, did event: ContainerEvent) { log.append("\(event.kind.rawValue)") }
        }
        _ = try await reports(.defaultLifetime(.singleton), .observer(Observer(log: log))) {
            Registration { _ in Ledger() }
        } in: { container in
            let ledgers = [try await container.resolve(Ledger.self), try await container.resolve(Ledger.self)]
            #expect(ledgers[0] === ledgers[1])
        }
        #expect(!log.all.isEmpty)
    }
}

extension WithTestContainerTests {
    @Test(arguments: [("Generated.swift", UInt(3)), ("", 0), ("/", .max), ("Shop/Generated.swift", 7)])
    func `any file and line of a registration can be reported`(fileID: String, line: UInt) async throws {
        let found = try await reports {
            ShopModule()
        } overrides: {
            Registration(String.self, qualifier: "hots", instance: "example.org", fileID: fileID, line: line)
        }
        let report = try #require(found.first)
        let place = SourceFiles.location(of: try #require(report.site), near: #_sourceLocation)
        #expect(place.line >= 1 && place.fileID.contains("/"))
        if line == 7 { #expect(place.line == 7 && place.fileID == fileID) }
    }

    @Test func `the place of a test container may be odd`() async throws {
        for (fileID, line) in [("x", 0), ("", -1)] {
            let text = try await withTestContainer(fileID: fileID, line: line, column: 0) {
                Registration(String.self, instance: "text")
            } operation: { container in
                try await container.resolve(String.self)
            }
            #expect(text == "text")
        }
    }
}
