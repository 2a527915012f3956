// Overloads that match only a mistake, so that the compiler explains it: without them it has no diagnostic to offer.

extension Resolver {
    /// Diagnoses a request whose type the compiler cannot infer.
    @available(
        *, unavailable, message: "name the service, resolve(Service.self, arguments: …), or give the result a type"
    )
    public nonisolated(nonsending) func resolve<First: Sendable, each Argument: Sendable>(
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Never { fatalError() }
}
