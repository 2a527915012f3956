// watchOS has UIKit, but no view controllers.
#if canImport(UIKit) && !os(watchOS)
    public import UIKit

    extension UIViewController {
        /// The container of this controller: its own, or the nearest one of its parents and presenting controllers.
        ///
        /// Without any, ``Injection/container``. Assigning a container gives the controller its own; assigning nil
        /// removes it. A scope that was opened for the controller with ``Container/openScope(for:registrations:)`` is
        /// disposed when another container replaces it.
        ///
        /// Not just `container`, which would forbid controllers a property of that name.
        public var diContainer: Container? {
            get {
                sequence(first: self, next: { $0.parent ?? $0.presentingViewController }).lazy
                    .compactMap { $0.association?.container }.first { _ in true } ?? Injection.container
            }
            set {
                // Assigning the controller's own scope again keeps it.
                if let association, association.container === newValue { return }
                association = newValue.map { ContainerAssociation(container: $0, scope: nil) }
            }
        }

        fileprivate var association: ContainerAssociation? {
            get { objc_getAssociatedObject(self, ContainerAssociation.key) as? ContainerAssociation }
            set {
                objc_setAssociatedObject(self, ContainerAssociation.key, newValue, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
            }
        }
    }

    extension Container {
        /// Opens a scope for a view controller and makes it the controller's container; it lasts as long as the
        /// controller.
        ///
        /// ```swift
        /// try diContainer?.openScope(for: controller) { Registration(User.self, instance: user) }
        /// ```
        /// When the controller goes away, or gets another container, the scope is closed and disposed in the
        /// background; observers of the container receive the errors of hooks. Instances of the scope must not hold the
        /// controller: neither would be released. A second scope of the controller takes the place of its first one,
        /// also when it is opened with the first one's container.
        ///
        /// - Parameters:
        ///   - controller: The owner of the scope.
        ///   - registrations: The scope's own registrations, which may override inherited ones.
        /// - Returns: The scope.
        /// - Throws: ``ResolutionError`` with the code `disposed`.
        @MainActor @discardableResult
        public func openScope(
            for controller: UIViewController,
            @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
        ) throws -> Container {
            let scope = try OwnedScope(
                in: controller.association?.scope?.place(ofSuccessorIn: self) ?? self,
                name: readableName(of: type(of: controller)), registrations: registrations)
            controller.association = ContainerAssociation(container: scope.container, scope: scope)
            return scope.container
        }
    }

    /// The controller's container and scope: the Objective-C runtime releases them with the controller.
    private final class ContainerAssociation {
        let container: Container
        let scope: OwnedScope?

        init(container: Container, scope: OwnedScope?) {
            self.container = container
            self.scope = scope
        }

        /// A unique address.
        @MainActor static let key = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
    }
#endif
