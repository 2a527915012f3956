/// Makes a container, starts it, runs a body with it, and disposes it on every way out.
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
/// The disposal runs to its end even in a cancelled task. `onDispose` hooks see in ``DisposalReason/error`` why the body,
/// or the start, failed.
///
/// - Parameters:
///   - name: What messages call the container.
///   - defaultLifetime: The lifetime of registrations that name none.
///   - onDuplicate: What happens when a key is registered twice.
///   - observers: Get the container's events.
///   - clock: Measures idle times and deadlines.
///   - registrations: The container's registrations.
///   - operation: The body, isolated like the code around it.
/// - Returns: The result of the body.
/// - Throws: What ``Container/start()`` or the body throws; else what an `onDispose` hook throws, unchanged, or
///   ``DisposalError`` when several hooks throw. When body and disposal both throw, observers receive the
///   disposal's errors.
public nonisolated(nonsending) func withContainer<R>(
    name: String? = nil, defaultLifetime: Lifetime = .graph, onDuplicate: DuplicatePolicy = .replace,
    observers: [any ContainerObserver] = [], clock: any Clock<Duration> = ContinuousClock(),
    @RegistrationBuilder _ registrations: () -> Registrations, operation: (Container) async throws -> sending R
) async throws -> sending R {
    let container = Container(
        name: name, defaultLifetime: defaultLifetime, onDuplicate: onDuplicate, observers: observers, clock: clock,
        registrations: registrations())
    // Unsafe because a `do` cannot express that the result was received as `sending` and is touched by nothing on its
    // way out.
    nonisolated(unsafe) let result: R
    do {
        _ = try await container.core.start(undoesFailure: false)
        result = try await Container.$current.bind(container) { try await operation(container) }
    } catch {
        // The body's error is the caller's; what goes wrong in disposal has been reported to the observers.
        try? await container.core.tellingObservers {
            try await container.core.dispose(
                reason: DisposalReason(error: error, hasCaller: false), isEndOfBody: true)
        }
        throw error
    }
    try await container.core.tellingObservers { try await container.core.endBody() }
    return result
}
