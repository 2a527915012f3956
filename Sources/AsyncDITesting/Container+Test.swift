public import AsyncDI

extension Container {
    /// The container of the current test case.
    ///
    /// It is available in the test, in its helpers and in its child tasks, for tests with the trait
    /// ``Testing/Trait/container(_:sourceLocation:_:)`` and inside
    /// ``withTestContainer(_:report:fileID:filePath:line:column:_:overrides:operation:)``. In the body of
    /// ``withChaos(seed:rounds:patience:faults:resets:operation:)`` it is the container of the round. It is also the
    /// current container of `Injection`: property wrappers and free functions find it too.
    /// ```swift
    /// let checkout = try await Container.test.resolve(Checkout.self)
    /// ```
    /// - Throws: ``TestContainerError/noTestContainer``.
    public static var test: Container {
        get throws {
            guard let current = TestContainer.current else { throw TestContainerError.noTestContainer }
            return current.container
        }
    }

    /// The events of the current test's container and its scopes, from its beginning.
    ///
    /// A scope has those of the whole test. Any other container has none, also one below the test's with settings of
    /// its own.
    ///
    /// - Throws: ``TestContainerError/noTestContainer``; ``TestContainerError/notOfTest(container:)``.
    public nonisolated var events: ContainerEvents {
        get throws {
            guard let current = TestContainer.current else { throw TestContainerError.noTestContainer }
            guard current.records(self) else { throw TestContainerError.notOfTest(container: name) }
            return ContainerEvents(current.log, of: current.container)
        }
    }
}
