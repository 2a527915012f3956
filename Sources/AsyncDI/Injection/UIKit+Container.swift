#if canImport(UIKit) && !os(watchOS)
    public import UIKit

    extension UIViewController {
        /// The container that this controller asks: its own, or that of the nearest controller above it that has one, or else
        /// ``Injection/container``.
        ///
        /// Setting it gives the controller, and those below it, a container of their own.
        public var container: Container? {
            get {
                var controller: UIViewController? = self
                while let current = controller {
                    if let own = current.ownContainer { return own }
                    controller = current.parent ?? current.presentingViewController
                }
                return Injection.container
            }
            set { associate(newValue, under: .container) }
        }

        /// Opens a scope of the controller's container, which is the controller's own from now on and is disposed when the controller
        /// goes, or when it opens another one.
        ///
        /// - Parameter registrations: What is added or overridden in the scope.
        /// - Returns: The scope.
        /// - Throws: ``ResolutionError`` with the code `noCurrentContainer` or `disposed`.
        @discardableResult
        public func openScope(
            @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
        ) async throws -> Container {
            guard let outer = parentContainer else { throw Injection.noContainer(ServiceKey(Container.self)) }
            let scope = try await outer.openScope(registrations: registrations)
            associate(ScopeHolder(scope), under: .scope)
            container = scope
            return scope
        }

        /// The container that a scope of this controller is opened in: not the scope that it has already.
        private var parentContainer: Container? {
            guard let held = associated(.scope) as? ScopeHolder, held.scope === ownContainer else { return container }
            return (parent ?? presentingViewController)?.container ?? Injection.container
        }

        private var ownContainer: Container? { associated(.container) as? Container }

        private func associated(_ key: AssociationKey) -> Any? { objc_getAssociatedObject(self, key.address) }

        private func associate(_ object: AnyObject?, under key: AssociationKey) {
            objc_setAssociatedObject(self, key.address, object, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
        }
    }

    /// Its address is what an association is found by.
    private final class AssociationKey: Sendable {
        static let container = AssociationKey()
        static let scope = AssociationKey()

        var address: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }
    }
#endif
