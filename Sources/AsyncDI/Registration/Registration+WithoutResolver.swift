extension Registration where Service: Sendable {
    /// Registers a service whose factory needs no ``Resolver``, and is synchronous.
    ///
    /// A separate overload, because the compiler would take such a closure for an instance. There is none for an
    /// asynchronous factory, `{ _ in try await Cache.warm() }`: the compiler would take each mistake in a factory for a
    /// parameter too many.
    ///
    /// A synchronous factory that is bound to a global actor takes the resolver: `{ @MainActor _ in … }`.
    /// ```swift
    /// Registration(lifetime: .singleton) { Cache() }
    /// ```
    /// - Parameters:
    ///   - service: The type under which the service is resolved: a concrete type or `any P`.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line, factory: @escaping @Sendable () throws -> Service
    ) {
        self.init(
            service, qualifier.flatMap { KeyDetails.of($0) }, lifetime, fileID, line,
            ServiceFactory<Service>(withoutResolver: factory))
    }
}
