import Testing

@testable import AsyncDI

private final class Owner: Sendable {}
private final class Part: Sendable {}

/// One of two that refer to each other.
private final class Half: Sendable {}
private final class OtherHalf: Sendable {}

extension Log<any Error> {
    fileprivate func noting<R>(_ body: () async throws -> R) async throws -> R {
        do { return try await body() } catch {
            append(error)
            throw error
        }
    }
}

/// The container's waits for user code that calls back into it.
@Suite(.timeLimit(.minutes(10))) struct ReentrantWaitTests {
    /// Expects that the caller is told that the wait is circular, by an error other than a cancellation.
    private func expectErrors(
        at location: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (_ box: Locked<Container?>, _ errors: Log<any Error>) async throws -> Void
    ) async throws {
        let errors = Log<any Error>()
        try await finishes { try await body(Locked(nil), errors) }
        #expect(!errors.entries.isEmpty, sourceLocation: location)
        #expect(!errors.entries.contains { $0 is CancellationError }, sourceLocation: location)
    }

    // MARK: Waits for hooks

    @Test func `a factory that awaits a reset whose hook needs the factory's instance does not hang`() async throws {
        try await expectErrors { box, errors in
            let container = Container {
                Registration(Part.self, lifetime: .singleton) { _ in Part() }
                    .onDispose { _ in
                        _ = try await errors.noting { try await box.value!.resolve(Owner.self) }
                    }
                Registration(Owner.self, lifetime: .singleton) { _ in
                    do { try await box.value!.reset(Part.self) } catch { errors.append(error) }
                    return Owner()
                }
            }
            box.value = container
            _ = try await container.resolve(Part.self)
            _ = try? await container.resolve(Owner.self)
            try await container.dispose()
        }
    }

    @Test func `a factory that opens a scope whose hook needs the factory's instance does not hang`() async throws {
        try await expectErrors { box, errors in
            let container = Container {
                Registration(Owner.self, lifetime: .singleton) { _ in
                    do {
                        try await box.value!.withScope(registrations: {
                            Registration(Part.self, instance: Part()).onDispose { _ in
                                _ = try await errors.noting { try await box.value!.resolve(Owner.self) }
                            }
                        }) { _ in }
                    } catch { errors.append(error) }
                    return Owner()
                }
            }
            box.value = container
            _ = try? await container.resolve(Owner.self)
            try await container.dispose()
        }
    }

    @Test func `a factory that disposes another container whose hook needs the factory's instance does not hang`()
        async throws
    {
        try await expectErrors { box, errors in
            let other = Container {
                Registration(Part.self, lifetime: .singleton) { _ in Part() }
                    .onDispose { _ in
                        _ = try await errors.noting { try await box.value!.resolve(Owner.self) }
                    }
            }
            let container = Container {
                Registration(Owner.self, lifetime: .singleton) { _ in
                    do { try await other.dispose() } catch { errors.append(error) }
                    return Owner()
                }
            }
            box.value = container
            _ = try await other.resolve(Part.self)
            _ = try? await container.resolve(Owner.self)
            try await container.dispose()
        }
    }

    @Test func `a module that awaits a reset whose hook resolves does not hang`() async throws {
        try await finishes {
            let box = Locked<Container?>(nil)
            let container = Container(name: "modules") {
                Registration(Owner.self, lifetime: .singleton) { _ in Owner() }
                Registration(Part.self, lifetime: .singleton) { _ in Part() }
                    .onDispose { _ in _ = try await box.value!.resolve(Owner.self) }
                CallingModule { resolver in
                    _ = try await resolver.resolve(Part.self)
                    try? await box.value!.reset(Part.self)
                }
            }
            box.value = container
            _ = try? await container.resolve(Owner.self)
            try await container.dispose()
        }
    }

    @Test func `a module that opens a scope whose hook resolves does not hang`() async throws {
        try await finishes {
            let box = Locked<Container?>(nil)
            let container = Container(name: "modules") {
                Registration(Owner.self, lifetime: .singleton) { _ in Owner() }
                CallingModule { _ in
                    try? await box.value!.withScope(registrations: {
                        Registration(Part.self, instance: Part())
                            .onDispose { _ in _ = try await box.value!.resolve(Owner.self) }
                    }) { _ in }
                }
            }
            box.value = container
            _ = try? await container.resolve(Owner.self)
            try await container.dispose()
        }
    }

    // MARK: Waits for leases

    @Test func `a body that resolves a service whose factory disposes the container of its lease does not hang`()
        async throws
    {
        try await expectErrors { _, errors in
            let leasing = Container {
                Registration(Part.self, lifetime: .singleton) { _ in Part() }
                    .onDispose { _ in }
            }
            let elsewhere = Container {
                Registration(Owner.self, lifetime: .singleton) { _ in
                    try await errors.noting { try await leasing.dispose() }
                    return Owner()
                }
            }
            try? await leasing.withInstance(Part.self) { _ in
                do { _ = try await elsewhere.resolve(Owner.self) } catch { errors.append(error) }
            }
            try await leasing.dispose()
            try await elsewhere.dispose()
        }
    }

    // MARK: The end of a disposal

    @Test func `a task that a finished hook had started waits for the whole disposal`() async throws {
        let box = Locked<Container?>(nil)
        let (hookIsOver, otherMayEnd) = (Gate(), Gate())
        let late = Log<Task<Bool, any Error>>()
        let otherIsDisposed = Counter()
        let lateHasReturned = Counter()
        let container = Container {
            Registration(Owner.self, lifetime: .singleton) { _ in Owner() }
                .onDispose { _ in
                    hookIsOver.open()
                    await otherMayEnd.pass()
                    otherIsDisposed.increment()
                }
            Registration(Part.self, lifetime: .singleton) { _ in Part() }
                .onDispose { _ in
                    late.append(
                        Task {
                            await hookIsOver.pass()
                            try await box.value!.dispose()
                            defer { lateHasReturned.increment() }
                            return otherIsDisposed.value == 1
                        })
                }
        }
        box.value = container
        // Disposed in the reverse order: the part first, whose hook is over when the owner's begins.
        _ = try await container.resolve(Owner.self)
        _ = try await container.resolve(Part.self)
        async let disposal: Void = container.dispose()
        await otherMayEnd.arrived()
        await hookIsOver.arrived()
        // Time enough to return early, for a call that does not wait.
        for _ in 0..<1_000 where lateHasReturned.value == 0 { await Task.yield() }
        otherMayEnd.open()
        try await disposal
        #expect(try await late.entries[0].value, "it returned before the disposal was over")
    }

    // MARK: Cancellation

    @Test func `a cancelled task fails no other request in the property cycle of a shared graph`() async throws {
        let mayEnd = Gate()
        let hookRuns = Counter()
        let container = Container {
            Registration(Half.self) { _ in Half() }
                .injectProperties { r, _ in
                    _ = try await r.resolve(OtherHalf.self)
                    guard hookRuns.increment() == 1 else { return }
                    await mayEnd.pass()
                    try Task.checkCancellation()
                }
            Registration(OtherHalf.self) { _ in OtherHalf() }
                .injectProperties { r, _ in _ = try await r.resolve(Half.self) }
        }
        try await finishes {
            try await container.withGraph { r in
                let cancelled = Task { try await r.resolve(Half.self) }
                await mayEnd.arrived()
                let other = Task { try await r.resolve(OtherHalf.self) }
                for _ in 0..<1_000 { await Task.yield() }
                cancelled.cancel()
                mayEnd.open()
                await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
                // This one was not cancelled: it starts over.
                _ = try await other.value
            }
        }
        #expect(hookRuns.value == 2)
    }

    @Test func `an instance that was left in the middle of its property cycle is freed`() async throws {
        let mayEnd = Gate()
        let halves = Log<WeakReference<Half>>()
        let container = Container {
            Registration(Half.self) { _ in
                let half = Half()
                halves.append(WeakReference(half))
                return half
            }
            .injectProperties { r, _ in
                _ = try await r.resolve(Half.self)
                await mayEnd.pass()
            }
            Registration(Owner.self) { r in
                _ = try? await r.resolve(Half.self)
                return Owner()
            }
        }
        try await finishes {
            let cancelled = Task { try await container.resolve(Owner.self) }
            await mayEnd.arrived()
            cancelled.cancel()
            _ = try? await cancelled.value
            mayEnd.open()
            try await container.dispose()
        }
        await until { halves.entries[0].instance == nil }
    }

    @Test func `an instance whose hook threw the error of a request is freed`() async throws {
        let parts = Log<WeakReference<Part>>()
        let other = Container()
        let container = Container {
            Registration(Part.self, lifetime: .singleton) { _ in
                let part = Part()
                parts.append(WeakReference(part))
                return part
            }
            .onDispose { _ in _ = try await other.resolve(Owner.self) }
        }
        _ = try await container.resolve(Part.self)
        await #expect(throws: DisposalError.self) { try await container.dispose() }
        await until { parts.entries[0].instance == nil }
    }

    @Test func `the disposal of one container cancels no request in a property cycle over two`() async throws {
        let (first, second) = (Locked<Container?>(nil), Locked<Container?>(nil))
        let mayEnd = Gate()
        first.value = Container(name: "first") {
            Registration(Half.self, lifetime: .singleton) { _ in Half() }
                .injectProperties { _, _ in
                    _ = try await second.value!.resolve(OtherHalf.self)
                    await mayEnd.pass()
                    try Task.checkCancellation()
                }
        }
        second.value = Container(name: "second") {
            Registration(OtherHalf.self, lifetime: .singleton) { _ in OtherHalf() }
                .injectProperties { _, _ in _ = try await first.value!.resolve(Half.self) }
        }
        try await finishes {
            let half = Task { try await first.value!.resolve(Half.self) }
            await mayEnd.arrived()
            let other = Task { try await second.value!.resolve(OtherHalf.self) }
            await second.value!.core.waiters(of: OtherHalf.self, reach: 1)
            let disposal = Task { try await first.value!.dispose() }
            await expect(.disposed) { _ = try await half.value }
            mayEnd.open()
            try await disposal.value
            let error = await #expect(throws: (any Error).self) { _ = try await other.value }
            #expect(error is ResolutionError, "\(String(describing: error))")
            try await second.value!.dispose()
        }
    }
}

/// Calls back when it is loaded.
private struct CallingModule: Module {
    let call: @Sendable (Resolver) async throws -> Void
    init(_ call: @escaping @Sendable (Resolver) async throws -> Void) { self.call = call }

    var registrations: Registrations { Registrations() }
    func loaded(_ resolver: Resolver) async throws { try await call(resolver) }
}
