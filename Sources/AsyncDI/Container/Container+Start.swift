extension Container {
    /// Makes every service registered as ``Registration/eager()`` in this container.
    ///
    /// Independent services are made concurrently, so that this takes as long as the longest chain of dependencies. When one
    /// fails the others are cancelled; what was complete stays.
    /// ```swift
    /// let container = Container {
    ///     Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }.eager()
    ///     Registration(Cache.self, lifetime: .singleton) { _ in try await Cache.warm() }.eager()
    /// }
    /// try await container.start()
    /// ```
    /// - Throws: What was wrong with the registrations given to the initialiser; else what a factory throws; ``ResolutionError``.
    public func start() async throws {
        try await core.start()
    }
}

extension ContainerCore {
    fileprivate func start() async throws {
        let keys: [ServiceKey] = try withState { state in
            guard state.phase == .open else { throw disposedError(nil, asker: nil) }
            if let problem = state.setUpProblems.first { throw problem }
            return state.registrations.inOrder.filter { $0.record.blueprint.isEager }.map(\.key)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys {
                group.addTask {
                    _ = try await Request(key: key, pack: .none, host: self, asker: ResolutionContext.activeFrame)
                        .optionalCell()
                }
            }
            try await group.waitForAll()
        }
    }
}
