public import AsyncDI

extension Container {
    /// The container of the current test case.
    ///
    /// It is available in the test, in its helpers and in its child tasks, for tests with the trait
    /// ``Testing/Trait/container(_:sourceLocation:_:)`` and inside
    /// ``withTestContainer(_:report:fileID:filePath:line:column:_:overrides:operation:)``. It is also the current
    /// container of `Injection`: property wrappers and free functions find it too.
    /// ```swift
    /// let checkout = try await Container.test.resolve(Checkout.self)
    /// ```
    /// - Throws: ``TestContainerError/noTestContainer``.
    public static var test: Container {
        get throws {
            guard let session = TestSession.current else { throw TestContainerError.noTestContainer }
            return session.container
        }
    }

    /// The events of the current test's container and its scopes, from its beginning.
    ///
    /// - Throws: ``TestContainerError/noTestContainer``.
    public nonisolated var events: ContainerEvents {
        get throws {
            guard let session = TestSession.current else { throw TestContainerError.noTestContainer }
            return ContainerEvents(session.watcher.log, of: session.container)
        }
    }
}
