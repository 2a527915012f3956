extension Container {
    /// Opens a scope under a key, or returns the scope that is open under it.
    ///
    /// The scope has its own scoped instances and registrations. This container keeps it until it is disposed; the
    /// scope keeps this container.
    ///
    /// - Parameters:
    ///   - key: The key of the scope.
    ///   - registrations: The scope's own registrations; ignored when the scope is already open.
    /// - Returns: The scope.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    @discardableResult
    public nonisolated(nonsending) func openScope(
        _ key: some Hashable & Sendable, @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
    ) async throws -> Container {
        try core.openScope(key: AnyKey(key), name: scopeName(key), holder: self, registrations: registrations)
    }

    /// Opens a scope that has no key.
    ///
    /// - Parameter registrations: The scope's own registrations, which may override inherited ones.
    /// - Returns: The scope.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    @discardableResult
    public nonisolated(nonsending) func openScope(
        @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
    ) async throws -> Container {
        try core.openScope(name: "scope", holder: self, registrations: registrations)
    }

    /// Returns the scope that is open under a key.
    ///
    /// - Parameter key: The key that the scope was opened with.
    /// - Returns: The scope, or nil.
    public func scope(_ key: some Hashable & Sendable) -> Container? {
        (try? core.scope(AnyKey(key)))?.handle()
    }

    /// The scope that is open under a key: `await container["session"]`.
    ///
    /// - Parameter key: The key that the scope was opened with.
    public subscript(_ key: some Hashable & Sendable) -> Container? { scope(key) }

    /// Disposes the scope that is open under a key; does nothing without one.
    ///
    /// - Parameter key: The key that the scope was opened with.
    /// - Throws: ``DisposalError`` with all errors of `onDispose` hooks; ``ResolutionError`` with the code `disposed`.
    public func disposeScope(_ key: some Hashable & Sendable) async throws {
        guard let scope = try core.scope(AnyKey(key)) else { return }
        try await scope.tellingObservers { try await scope.dispose() }
    }

    /// Opens a scope for the duration of a body, and makes it ``current`` for the body's task and its children.
    ///
    /// Each call opens its own scope in exactly this container, even when the key is open elsewhere: for a scope inside
    /// the current one, call this on that one. The scope is disposed, to the end, when the body returns, throws or is
    /// cancelled, before this call returns.
    /// ```swift
    /// try await container.withScope("request-42") { scope in
    ///     let user = try await container.resolve(CurrentUser.self)  // the request's own
    ///     try await user.greet(in: scope)
    /// }
    /// ```
    /// - Parameters:
    ///   - key: The name of the scope in messages.
    ///   - registrations: The scope's own registrations, which may override inherited ones.
    ///   - operation: The body, isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The body's error; else the error of an `onDispose` hook, unchanged, or ``DisposalError`` when several
    ///   hooks throw; ``ResolutionError`` with the code `disposed`, also when the scope was disposed during the body
    ///   and a hook ran, so that its work was not completed. When both the body and the disposal throw, observers
    ///   receive the errors of the disposal.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func withScope<R>(
        _ key: some Hashable & Sendable, @RegistrationBuilder registrations: () -> Registrations = { Registrations() },
        operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        var scope = try openBodyScope(named: scopeName(key), registrations)
        return try await Container.run(operation, in: &scope)
    }

    /// Opens a scope without a key for the duration of a body.
    ///
    /// - Parameters:
    ///   - registrations: The scope's own registrations, which may override inherited ones.
    ///   - operation: The body, isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The same as ``withScope(_:registrations:operation:)``.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func withScope<R>(
        @RegistrationBuilder registrations: () -> Registrations = { Registrations() },
        operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        var scope = try openBodyScope(named: "scope", registrations)
        return try await Container.run(operation, in: &scope)
    }

    /// Runs the body with the scope as the current one, and ends the scope.
    ///
    /// It binds the task-local itself, as ``TaskLocal/bind(_:isolation:_:)`` does and for its reasons: each layer costs
    /// a request as much as a look-up.
    @inlinable
    static func run<R>(
        _ operation: (Container) async throws -> sending R, in scope: inout Container,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> sending R {
        // Unsafe because `withValue` cannot express that the result was received as `sending` and that no other code
        // uses it on its way out.
        nonisolated(unsafe) let result: R
        do {
            result = try await Container.$current.withValue(scope) { [scope] in
                _ = isolation
                return try await operation(scope)
            }
        } catch {
            // The body's error is the caller's; what goes wrong in disposal has been reported to the observers.
            try? await end(&scope, because: error)
            throw error
        }
        try await end(&scope, because: nil)
        return result
    }

    @usableFromInline
    nonisolated func openBodyScope(named name: String, _ registrations: () -> Registrations) throws -> Container {
        try core.openScope(.body, name: name, holder: self, registrations: registrations)
    }

    @usableFromInline
    nonisolated(nonsending) static func end(_ scope: inout Container, because error: (any Error)?) async throws {
        defer { scope.core.unpin(&scope) }
        scope.core.bodyEnds()
        guard let error else { return try await scope.core.endBody() }
        try await scope.core.dispose(reason: DisposalReason(error: error, hasCaller: false), isEndOfBody: true)
    }
}

/// The name of a scope with a key, in messages.
@usableFromInline func scopeName<Key: Hashable>(_ key: Key) -> String {
    // Most keys are strings, which interpolation describes ten times as slowly.
    (key as? String) ?? "\(key)"
}
