import Testing

@testable import AsyncDI

/// A container for as long as a body runs: started before, disposed after it, whatever happens.
@Suite(.timeLimit(.minutes(10))) struct WithContainerTests {
    private struct Failure: Error, Equatable {
        var name = "body"
    }

    private final class Log: Sendable {
        private let list = Locked<[String]>([])
        var entries: [String] { list.withLock { $0 } }
        func add(_ entry: String) { list.withLock { $0.append(entry) } }
    }

    private let log = Log()

    private func database(failingToClose: Bool = false, name: String = "database") -> Registration<String> {
        Registration(String.self, qualifier: .named(name), lifetime: .singleton) { [log] _ in
            log.add("open \(name)")
            return name
        }
        .eager()
        .onDispose { [log] _, reason in
            log.add("close \(name), \(reason.error.map { "\($0)" } ?? "fine")")
            if failingToClose { throw Failure(name: name) }
        }
    }

    @Test func `eager services are ready before the body, and closed after it`() async throws {
        let length = try await withContainer(name: "app") {
            database()
        } operation: { [log] container in
            log.add("body")
            #expect(Container.current === container && container.name == "app")
            return try container.ready(String.self, qualifier: .named("database")).count
        }
        #expect(length == 8)
        #expect(log.entries == ["open database", "body", "close database, fine"])
        #expect(Container.current == nil)
    }

    @Test func `hooks see why the body failed, and the caller gets that error`() async throws {
        await #expect(throws: Failure()) {
            try await withContainer {
                database(failingToClose: true)
            } operation: { _ in
                throw Failure()
            }
        }
        #expect(log.entries == ["open database", "close database, \(Failure())"])
    }

    @Test func `a started service is closed when the start fails, and the body does not run`() async throws {
        await #expect(throws: Failure(name: "start")) {
            try await withContainer {
                database()
                Registration(Int.self, lifetime: .singleton) { resolver in
                    _ = try await resolver.resolve(String.self, qualifier: .named("database"))
                    throw Failure(name: "start")
                }
                .eager()
            } operation: { _ in
                Issue.record("the body runs")
            }
        }
        #expect(log.entries == ["open database", "close database, \(Failure(name: "start"))"])
    }

    @Test func `the one error of the disposal is thrown as it is, and several together`() async throws {
        await #expect(throws: Failure(name: "database")) {
            try await withContainer {
                database(failingToClose: true)
            } operation: { _ in
            }
        }
        let error = await #expect(throws: DisposalError.self) {
            try await withContainer {
                database(failingToClose: true, name: "a")
                database(failingToClose: true, name: "b")
            } operation: { _ in
            }
        }
        #expect(error?.errors.count == 2)
    }

    @Test func `in a cancelled task everything is closed too`() async throws {
        let hasBegun = Gate()
        let task = Task { [log] in
            try await withContainer {
                database()
            } operation: { _ in
                hasBegun.open()
                // Ends with the cancellation.
                for await _ in AsyncStream(Int.self, { _ in }) {}
                log.add("cancelled")
                try Task.checkCancellation()
            }
        }
        await hasBegun.pass()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.entries == ["open database", "cancelled", "close database, \(CancellationError())"])
    }

    @Test func `registrations that do not fit together are an error before the body`() async throws {
        await expect(.duplicateRegistration) {
            try await withContainer(onDuplicate: .reject) {
                Registration(Int.self, instance: 1)
                Registration(Int.self, instance: 2)
            } operation: { _ in
                Issue.record("the body runs")
            }
        }
    }
}
