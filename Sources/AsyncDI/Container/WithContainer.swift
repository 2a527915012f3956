/// Creates and starts a container, runs a body with it, and disposes it on every way out.
///
/// For the `main` of an executable, and for a test without a trait. The container is ``Container/current`` for the
/// body's task and its children.
/// ```swift
/// try await withContainer {
///     Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
///         .eager()
///         .onDispose { database in try await database.close() }
/// } operation: { container in
///     try await serve(container)
/// }
/// ```
/// The disposal runs to its end even in a cancelled task. `onDispose` hooks receive the error of the body, or of the
/// start, in ``DisposalReason/error``.
///
/// When a ``Container/drain(deadline:)`` or ``Container/dispose(deadline:)`` of the container gives up waiting, so does
/// the end of this function: a hook or observer that does not return cannot keep the process beyond that deadline.
///
/// - Parameters:
///   - name: The name of the container in messages.
///   - defaultLifetime: The lifetime of registrations without one.
///   - onDuplicate: The effect of registering a key twice.
///   - observers: Receive the container's events.
///   - clock: Measures durations, idle times and deadlines.
///   - disposalDeadline: The longest wait for the disposal at the end, and for the observers, by the clock; the
///     disposal continues afterwards. Unlimited when nil.
///   - registrations: The container's registrations.
///   - operation: The body, isolated like the code around it.
/// - Returns: The result of the body.
/// - Throws: The error of ``Container/start()`` or of the body; else the error of an `onDispose` hook, unchanged, or
///   ``DisposalError`` when several hooks throw; ``ResolutionError`` with the code `disposalTimedOut` when the disposal
///   has not ended by a deadline. When both the body and the disposal throw, observers receive the
///   errors of the hooks.
public nonisolated(nonsending) func withContainer<R>(
    name: String? = nil, defaultLifetime: Lifetime = .graph, onDuplicate: DuplicatePolicy = .replace,
    observers: [any ContainerObserver] = [], clock: any Clock<Duration> = ContinuousClock(),
    disposalDeadline: Duration? = nil, @RegistrationBuilder _ registrations: () -> Registrations,
    operation: (Container) async throws -> sending R
) async throws -> sending R {
    let container = Container(
        name: name, defaultLifetime: defaultLifetime, onDuplicate: onDuplicate, observers: observers, clock: clock,
        registrations: registrations())
    let core = container.core
    /// Disposes the container, and waits until observers have received its last event.
    nonisolated(nonsending) func end(_ disposal: nonisolated(nonsending) () async throws -> Void) async throws {
        if let disposalDeadline { core.noteDeadline(core.stopwatch.elapsed() + disposalDeadline.addable) }
        try await core.tellingObservers(isEndOfBody: true, disposal)
    }
    // Unsafe because a `do` cannot express that the result was received as `sending` and that no other code uses it on
    // its way out.
    nonisolated(unsafe) let result: R
    do {
        _ = try await core.start(undoesFailure: false)
        result = try await container.whileCurrent { try await operation(container) }
    } catch {
        // The caller gets the body's error; observers receive the errors of the disposal.
        try? await end {
            do {
                try await core.dispose(reason: DisposalReason(error: error, hasCaller: false), isEndOfBody: true)
            } catch let lost {
                core.noteTimeout(lost)
            }
        }
        throw error
    }
    try await end { try await core.endBody() }
    return result
}
