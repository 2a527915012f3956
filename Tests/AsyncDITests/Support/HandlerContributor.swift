import Testing

@testable import AsyncDI

/// A contribution that notices when it is used after its end.
final class ContributedHandler: Sendable {
    let name: String
    private let closed = Counter()
    init(_ name: String) { self.name = name }
    var isClosed: Bool { closed.value > 0 }
    func close() { closed.increment() }
}

/// Contributes handlers, and lists those that were closed.
struct HandlerContributor {
    /// The closed handlers, in order.
    let closed = Log<String>()

    /// Returns the contribution of a handler, whose factory does some work before it makes one.
    func callAsFunction(
        _ name: String, as key: String? = nil, lifetime: Lifetime = .singleton,
        making: @escaping @Sendable (Resolver) async throws -> Void = { _ in }
    ) -> Registration<ContributedHandler> {
        let registration = Registration(ContributedHandler.self, lifetime: lifetime) { r in
            try await making(r)
            return ContributedHandler(name)
        }
        .onDispose { [closed] handler in
            handler.close()
            closed.append(handler.name)
        }
        return key.map { registration.intoMany(key: $0) } ?? registration.intoMany()
    }
}
