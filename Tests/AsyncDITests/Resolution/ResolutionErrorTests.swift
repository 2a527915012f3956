import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}
private struct X: Sendable {}

/// The parts of errors; ``MessageTests`` has their texts.
@Suite(.timeLimit(.minutes(10))) struct ResolutionErrorTests {
    /// Asks the container when it is described, which would wait for itself under the container's lock.
    private struct Curious: Qualifier, CustomStringConvertible {
        static let container = Locked<Container?>(nil)
        var description: String {
            let container = Self.container.withLock { $0 }
            return (try? container?.ready(Int.self)) == nil ? "curious" : "satisfied"
        }
    }

    @Test func `a qualifier's description is asked for outside the container's lock`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container(onDuplicate: .reject) {
            Registration(Thing.self, qualifier: Curious(), lifetime: .singleton) { _ in try await factory.run() }
        }
        Curious.container.withLock { $0 = container }
        defer { Curious.container.withLock { $0 = nil } }
        await expect(.duplicateRegistration) {
            try await container.register(Thing.self, qualifier: Curious(), instance: Thing())
        }
        let asker = Task { try await container.resolve(Thing.self, qualifier: Curious()) }
        await factory.began()
        let disposal = Task { try await container.dispose() }
        while container.core.disposal.subject?.facts(in: container.core).text.contains("creation of") != true {
            await Task.yield()
        }
        await expect(.disposed) { try await container.register(Thing.self, qualifier: Curious(), instance: Thing()) }
        factory.answer(Thing())
        _ = await asker.result
        try await disposal.value
    }

    @Test(arguments: [Lifetime.singleton, .graph, .transient])
    func `a CancellationError of a dependency's factory is named with it`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(A.self, lifetime: lifetime) { r in
                _ = try await r.resolve(B.self); return A()
            }
            Registration(B.self, lifetime: lifetime) { _ in throw CancellationError() }
        }
        let error = await expect(.creationCancelled, path: ["A", "B"]) { try await container.resolve(A.self) }
        #expect(error?.underlying is CancellationError)
        #expect(error?.message.hasPrefix("the factory, a hook or a decoration of B threw CancellationError") == true)
    }

    @Test func `a DisposalError lists the errors of hooks`() async throws {
        let container = Container {
            Registration(Int.self, lifetime: .multiton, fileID: "App/A.swift", line: 1) { (_, number: Int) in number }
                .onDispose { throw TestError($0) }
        }
        for number in [1, 2] { _ = try await container.resolve(Int.self, arguments: number) }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose() }
        #expect(error?.errors as? [TestError] == [TestError(2), TestError(1)])
        #expect(
            error?.description == """
                disposal failed: Int(Int) (App/A.swift:1): TestError(number: 2); Int(Int) (App/A.swift:1): \
                TestError(number: 1). All other instances that were to be disposed have been. Look at the onDispose hooks of \
                those that failed.
                """)
    }

    @Test func `keys read as they are asked for`() async throws {
        enum Env: Qualifier { case prod }
        let container = Container {
            Registration(X.self) { r in
                _ = try await r.resolve([String: Int?].self, qualifier: Env.prod, arguments: 1, String?("a"), [2.5])
                return X()
            }
        }
        let error = await expect(.notRegistered, path: ["X", "[String: Int?][prod](Int, String?, [Double])"]) {
            try await container.resolve(X.self)
        }
        let key = error?.path.last
        #expect(key?.service == [String: Int?].self)
        #expect(key?.qualifier as? Env == .prod)
        #expect(
            key?.argumentTypes.map(ObjectIdentifier.init)
                == [Int.self, String?.self, [Double].self].map(ObjectIdentifier.init))
    }

    @Test func `codes are matched in a catch, compared and printed`() async throws {
        let container = Container()
        do {
            _ = try await container.resolve(A.self)
            Issue.record("nothing is registered")
        } catch ResolutionError.Code.disposed {
            Issue.record("the container is not disposed")
        } catch ResolutionError.Code.notRegistered {
            // As it should be.
        }
        do {
            throw TestError()
        } catch ResolutionError.Code.notRegistered {
            Issue.record("not an error of the container")
        } catch is TestError {
            // As it should be.
        }
        #expect(ResolutionError.Code.disposed != .notReady)
        #expect("\(ResolutionError.Code.captiveDependency)" == "captiveDependency")
    }
}
