import AsyncDI
import Testing

@testable import AsyncDITesting

/// The containers of the suite's tests: no two cases have the same one.
private let seenContainers = Locked<[ObjectIdentifier: Container]>([:])

private func isNew(_ container: Container) -> Bool {
    seenContainers.withLock { $0.updateValue(container, forKey: ObjectIdentifier(container)) == nil }
}

@Suite(.timeLimit(.minutes(10)), .container { ShopModule() })
struct ContainerTraitTests {
    @Test func `a test has the registrations of its suite`() async throws {
        #expect(try isNew(Container.test))
        #expect(try await Container.test.resolve(Checkout.self).gateway.name == "real")
    }

    @Test(.container { Registration((any Gateway).self, instance: FakeGateway()) })
    func `a test overrides its suite's registrations`() async throws {
        #expect(try isNew(Container.test))
        #expect(try await Container.test.resolve(Checkout.self).gateway.name == "fake")
    }

    @Test(arguments: 0..<200)
    func `two hundred cases in parallel see their own instances and overrides only`(_ number: Int) async throws {
        #expect(try isNew(Container.test))
        try await Container.test.register((any Gateway).self, instance: FakeGateway(name: "fake \(number)"))
        let ledger = try await Container.test.resolve(Ledger.self)
        for _ in 0..<10 {
            await ledger.note("\(number)")
            await Task.yield()
            #expect(try await Container.test.resolve(Checkout.self).gateway.name == "fake \(number)")
        }
        #expect(await ledger.entries == Array(repeating: "\(number)", count: 10))
    }

    @Test func `child tasks, free functions and wrappers find the test's container`() async throws {
        struct Screen {
            @Inject(Ledger.self) var ledger
        }
        let ledger = try await Container.test.resolve(Ledger.self)
        #expect(Screen().ledger === ledger)
        #expect(try await resolve(Ledger.self) === ledger)
        async let child = Container.test.resolve(Ledger.self)
        #expect(try await child === ledger)
        let task = Task { try await Container.test.resolve(Ledger.self) }
        #expect(try await task.value === ledger)
    }

    @Test func `a detached task has no test container, and is told why`() async throws {
        let error = await #expect(throws: TestContainerError.self) {
            try await Task.detached { try await Container.test.resolve(Ledger.self) }.value
        }
        #expect(error?.description.contains("A detached task does not have it") == true)
    }

    @Suite(.container { Registration((any Gateway).self, instance: FakeGateway(name: "inner")) })
    struct Inner {
        @Test func `an inner suite overrides the outer one`() async throws {
            #expect(try await Container.test.resolve(Checkout.self).gateway.name == "inner")
        }

        @Test(.container { Registration((any Gateway).self, instance: FakeGateway(name: "innermost")) })
        func `a test overrides both`() async throws {
            #expect(try await Container.test.resolve(Checkout.self).gateway.name == "innermost")
        }
    }
}

/// The ends of containers whose tests have ended.
private let ends = Log<String>()

@Suite(.timeLimit(.minutes(10)), .serialized)
struct ContainerLifeTests {
    struct Resource: Sendable {
        let name: String
    }

    @Suite(
        .container(.start) {
            Registration(Resource.self, lifetime: .singleton) { _ in Resource(name: "eager") }
                .eager()
                .onDispose { _ in ends.append("disposed") }
        })
    struct Started {
        @Test func `eager services are created before a test begins`() throws {
            #expect(try Container.test.ready(Resource.self).name == "eager")
        }
    }

    @Suite(
        .compactMapIssues { _ in nil },
        .container {
            Registration(Resource.self, lifetime: .singleton) { _ in Resource(name: "lazy") }
                .onDispose { _, reason in ends.append("disposed after \(reason.error.map { "\($0)" } ?? "success")") }
        })
    struct Failing {
        @Test func `a test that throws`() async throws {
            _ = try await Container.test.resolve(Resource.self)
            throw TestError()
        }

        @Test func `a test that fails an expectation`() async throws {
            _ = try await Container.test.resolve(Resource.self)
            Issue.record("failed")
        }

        @Test func `a test that is cancelled`() async throws {
            _ = try await Container.test.resolve(Resource.self)
            try Test.cancel("enough")
        }
    }

    @Test func `the container of every test before this one is disposed, whatever the test did`() {
        #expect(ends.all.sorted() == ["disposed"] + Array(repeating: "disposed after success", count: 3))
    }
}
