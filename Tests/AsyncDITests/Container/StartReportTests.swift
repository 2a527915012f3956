import Testing

@testable import AsyncDI

/// The report of a start: the created services, their durations, and the waits of the start.
@Suite(.timeLimit(.minutes(10))) struct StartReportTests {
    private struct Database: Sendable {}
    private struct Catalogue: Sendable {}
    private struct Cache: Sendable {}
    private struct Mailer: Sendable {}
    private struct Broken: Error {}

    private let clock = ManualClock()
    // No stalls: their clock is the test's.
    private let created = RecordingObserver(.created)

    /// Databases take two seconds, catalogs three, caches one of their own; the mailer takes two, beside them.
    private func container() -> Container {
        let clock = clock
        return Container(name: "app", observers: [created], clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Database()
            }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                try await clock.sleep(for: .seconds(3))
                return Catalogue()
            }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                async let database = resolver.resolve(Database.self)
                async let catalogue = resolver.resolve(Catalogue.self)
                _ = try await (database, catalogue)
                try await clock.sleep(for: .seconds(1))
                return Cache()
            }
            .eager()
            Registration(Mailer.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Mailer()
            }
            .eager()
        }
    }

    private func report(_ container: Container) async throws -> StartReport {
        let start = Task { try await container.start() }
        await clock.sleepers(reach: 2)
        await container.core.waiters(of: Database.self, reach: 2)
        await container.core.waiters(of: Catalogue.self, reach: 1)
        clock.advance(by: .seconds(2))  // The database exists, and the mailer.
        await created.received { "\($0)".hasPrefix("created Mailer") }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(3))  // The catalog exists, too.
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        return try await start.value
    }

    @Test func `own time leaves out waiting, and the critical path is the chain that ended last`() async throws {
        let container = container()
        let report = try await report(container)
        #expect(report.duration == .seconds(6))
        #expect(report.criticalPath.map { "\($0.key)" } == ["Database", "Catalogue", "Cache"])
        let services = Dictionary(uniqueKeysWithValues: report.services.map { ("\($0.key)", $0) })
        #expect(
            services.mapValues(\.duration) == [
                "Database": .seconds(2), "Catalogue": .seconds(5), "Cache": .seconds(6), "Mailer": .seconds(2),
            ])
        #expect(
            services.mapValues(\.ownDuration) == [
                "Database": .seconds(2), "Catalogue": .seconds(3), "Cache": .seconds(1), "Mailer": .seconds(2),
            ])
        #expect(services["Cache"]?.dependencies.map { "\($0)" } == ["Database", "Catalogue"])
        #expect(!report.services.contains { !$0.isCreated })
        let first = report.description.split(separator: "\n").first
        #expect(first == "start took 6 s; Database → Catalogue → Cache took 6 s of it")
        try await container.dispose()
    }

    @Test func `a second start reports only its own creations`() async throws {
        let container = container()
        _ = try await report(container)
        let again = try await container.start()
        #expect(again.services.isEmpty && again.criticalPath.isEmpty && again.duration == .zero)
        #expect(again.description == "start took 0 s")
        try await container.dispose()
    }

    @Test func `a creation that began before the start takes no more of it than its whole time`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let container = Container(clock: clock) {
            Registration(String.self, qualifier: "two\r\nlines", lifetime: .singleton) { _ in
                await gate.pass()
                return ""
            }
            .eager()
        }
        let first = Task { try await container.resolve(String.self, qualifier: "two\r\nlines") }
        await gate.arrived()
        clock.advance(by: .seconds(5))
        let start = Task { try await container.start() }
        while container.activity().creations.first?.waiters != 2 { await Task.yield() }
        clock.advance(by: .seconds(1))
        gate.open()
        _ = try await first.value
        let report = try await start.value
        #expect(report.description.split(whereSeparator: \.isNewline).first?.hasPrefix("start took 1 s; ") == true)
        #expect(report.description.contains("took 1 s of it"))
        #expect(report.services.map(\.begin) == [.seconds(-5)])
        #expect(report.services.map(\.duration) == [.seconds(6)])
        #expect(report.mermaid().split(whereSeparator: \.isNewline).count == 4)
        try await container.dispose()
    }

    @Test func `the trace has events of the services, with their durations`() async throws {
        let container = container()
        let trace = try await report(container).traceEvents()
        #expect(trace.hasPrefix("{\"traceEvents\":[{\"name\":"))
        let database = #"{"name":"Database","ph":"X","ts":0,"dur":2000000,"pid":1,"tid":"#
        #expect(trace.contains(database))
        #expect(trace.contains(#"{"name":"Cache","ph":"X","ts":0,"dur":6000000,"pid":1,"tid":"#))
        #expect(trace.contains(#""args":{"own":1000000,"created":true}}"#))
        try await container.dispose()
    }

    @Test func `the chart has a bar for each service, and marks the critical path`() async throws {
        let container = container()
        let lines = try await report(container).mermaid().split(separator: "\n")
        #expect(lines.prefix(3) == ["gantt", "    dateFormat x", "    axisFormat %S.%L s"])
        #expect(
            Set(lines.dropFirst(3)) == [
                "    Database :crit, 0, 2000", "    Catalogue :crit, 0, 5000", "    Cache :crit, 0, 6000",
                "    Mailer :0, 2000",
            ])
        try await container.dispose()
    }

    @Test func `the chart marks the one bar of two that is critical, and no name is a statement of the chart`() {
        struct Title: Sendable {}
        struct `%%comment`: Sendable {}
        func service(_ type: any Any.Type, from begin: Int, for duration: Int) -> StartReport.Service {
            StartReport.Service(
                key: ServiceKey(type), begin: .seconds(begin), duration: .seconds(duration), ownDuration: .zero,
                dependencies: [], isCreated: true)
        }
        let services = [
            service(Title.self, from: -3, for: 4), service(Cache.self, from: 0, for: 5),
            service(Cache.self, from: 0, for: 60), service(`%%comment`.self, from: 0, for: 1),
        ]
        let report = StartReport(services: services, duration: .seconds(60), criticalPath: [services[2]])
        #expect(
            report.mermaid().split(separator: "\n").dropFirst(3) == [
                "    \u{200B}Title :0, 1000", "    Cache :0, 5000", "    Cache :crit, 0, 60000",
                "    `  comment` :0, 1000",
            ])
    }

    @Test func `an instance of the parent that a service waits for is part of the report`() async throws {
        let clock = clock
        let parent = Container(name: "app", clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Database()
            }
        }
        let child = Container(name: "feature", parent: parent, clock: clock) {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                try await clock.sleep(for: .seconds(1))
                return Cache()
            }
            .eager()
        }
        let start = Task { try await child.start() }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(2))
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        let report = try await start.value
        #expect(report.criticalPath.map { "\($0.key)" } == ["Database", "Cache"])
        #expect(report.criticalPath.map(\.duration) == [.seconds(2), .seconds(3)])
        #expect(report.criticalPath.map(\.ownDuration) == [.seconds(2), .seconds(1)])
        try await parent.dispose()
    }

    @Test func `instances that an instance of the parent waits for in turn are on the path`() async throws {
        let clock = clock
        let parent = Container(name: "app", clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Database()
            }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                try await clock.sleep(for: .seconds(3))
                return Catalogue()
            }
        }
        let child = Container(name: "feature", parent: parent, clock: clock) {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Catalogue.self)
                return Cache()
            }
            .eager()
        }
        let start = Task { try await child.start() }
        for seconds in [2, 3] {
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(seconds))
        }
        let report = try await start.value
        #expect(report.criticalPath.map { "\($0.key)" } == ["Database", "Catalogue", "Cache"])
        #expect(report.criticalPath.map(\.ownDuration) == [.seconds(2), .seconds(3), .zero])
        #expect(report.services.map { $0.dependencies.map(\.description) } == [["Catalogue"], ["Database"], []])
        try await parent.dispose()
    }

    @Test func `each of several starts follows an instance of the parent that one of them began`() async throws {
        let clock = clock
        let mayGoOn = Gate()
        let app = Container(name: "app", clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Database()
            }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                await mayGoOn.pass()
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
            .eager()
        }
        func feature(_ name: String) -> Container {
            Container(name: name, parent: app, clock: clock) {
                Registration(Cache.self, lifetime: .singleton) { resolver in
                    _ = try await resolver.resolve(Catalogue.self)
                    return Cache()
                }
                .eager()
            }
        }
        let (first, second) = (feature("first"), feature("second"))
        let own = Task { try await app.start() }
        while app.core.withState({ $0.flights.isEmpty }) { await Task.yield() }
        let starts = [Task { try await first.start() }, Task { try await second.start() }]
        while app.core.withState({ $0.flights.all.first?.startsElsewhere.count }) != 2 { await Task.yield() }
        mayGoOn.open()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(2))
        for start in starts {
            #expect(try await start.value.criticalPath.map { "\($0.key)" } == ["Database", "Catalogue", "Cache"])
        }
        #expect(try await own.value.criticalPath.map { "\($0.key)" } == ["Database", "Catalogue"])
        try await app.dispose()
    }

    @Test func `services of a property cycle, which wait for one another, are on the path once`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
                .injectProperties { resolver, _ in _ = try await resolver.resolve(Cache.self) }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Cache()
            }
            .eager()
        }
        let report = try await container.start()
        #expect(Set(report.criticalPath.map { "\($0.key)" }) == ["Database", "Cache"])
        #expect(report.criticalPath.count == 2)
        try await container.dispose()
    }

    @Test func `after a start that fails, requests and further starts run as before`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in throw Broken() }.eager()
            Registration(Cache.self, lifetime: .singleton) { _ in Cache() }
        }
        await #expect(throws: Broken.self) { try await container.start() }
        _ = try await container.resolve(Cache.self)
        await #expect(throws: Broken.self) { try await container.start() }
        try await container.dispose()
    }

    @Test func `graph services in between count for the service that they are created for`() async throws {
        let clock = clock
        let container = Container(clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(2))
                return Database()
            }
            Registration(Catalogue.self, lifetime: .graph) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Catalogue.self)
                return Cache()
            }
            .eager()
        }
        let start = Task { try await container.start() }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(2))
        let report = try await start.value
        #expect(report.criticalPath.map { "\($0.key)" } == ["Database", "Cache"])
        #expect(report.criticalPath.last?.ownDuration == .zero)
        try await container.dispose()
    }

    @Test func `the critical path includes the work of the last service before it waited`() async throws {
        let clock = clock
        let container = Container(clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(1))
                return Database()
            }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                try await clock.sleep(for: .seconds(9))
                _ = try await resolver.resolve(Database.self)
                return Cache()
            }
            .eager()
        }
        let start = Task { try await container.start() }
        for seconds in [9, 1] {
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await start.value.description.hasPrefix("start took 10 s; Database → Cache took 10 s of it"))
    }

    @Test func `no event of a trace begins before its origin`() async throws {
        let (clock, gate) = (clock, Gate())
        let container = Container(clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                await gate.pass()
                return Database()
            }
            .eager()
        }
        let early = Task { try await container.resolve(Database.self) }
        await gate.arrived()
        clock.advance(by: .seconds(2))
        let start = Task { try await container.start() }
        await container.core.waiters(of: Database.self, reach: 2)
        clock.advance(by: .seconds(1))
        gate.open()
        let report = try await start.value
        _ = try await early.value
        #expect(report.services.map(\.begin) == [.seconds(-2)])
        #expect(report.traceEvents().contains("\"ts\":0,\"dur\":3000000,"))
    }
}
