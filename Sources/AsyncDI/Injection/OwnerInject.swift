/// An object with the container of its own services.
public protocol ContainerOwner: AnyObject {
    /// The container that ``OwnerInject`` properties of the object use.
    var container: Container { get }
}

/// Injects a service from the container of the object that the property belongs to.
///
/// ```swift
/// final class ProfileController: ContainerOwner {
///     let container: Container
///     @OwnerInject var api: any API
///
///     init(container: Container) { self.container = container }
/// }
/// ```
/// For classes, whose wrappers can see their owner. A structure passes its container on instead: `_api = Inject(from:
/// container)`. The instance must be ready, as for ``Inject``.
@propertyWrapper public struct OwnerInject<Service: Sendable>: Sendable {
    private let qualifier: (any Qualifier)?

    /// Injects a service.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    public init(_ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil) {
        self.qualifier = qualifier
    }

    /// The wrapper has no value without its owner.
    @available(*, unavailable, message: "@OwnerInject is for classes that conform to ContainerOwner")
    public var wrappedValue: Service { fatalError() }

    /// The instance, from the owner's container.
    public static subscript<Owner: ContainerOwner>(
        _enclosingInstance owner: Owner, wrapped wrapped: KeyPath<Owner, Service>,
        storage storage: KeyPath<Owner, OwnerInject<Service>>
    ) -> Service {
        Injected(Service.self, qualifier: owner[keyPath: storage].qualifier, from: owner.container).required
    }
}
