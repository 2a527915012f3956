#if canImport(SwiftUI)
    public import SwiftUI

    private struct ContainerKey: EnvironmentKey {
        static let defaultValue: Container? = nil
    }

    extension EnvironmentValues {
        /// The container that views ask: the one set by ``SwiftUI/View/container(_:)``, or else ``Injection/container``.
        public var container: Container? {
            get { self[ContainerKey.self] ?? Injection.container }
            set { self[ContainerKey.self] = newValue }
        }
    }

    extension View {
        /// Sets the container that this view and those inside it ask.
        ///
        /// - Parameter container: The container.
        /// - Returns: The view with the container in its environment.
        public func container(_ container: Container) -> some View {
            environment(\.container, container)
        }

        /// Opens a scope of the environment's container for as long as the view is shown, and disposes it afterwards.
        ///
        /// The view appears once the scope is open; it and those inside it ask the scope.
        ///
        /// - Parameter registrations: What is added or overridden in the scope.
        /// - Returns: The view in its scope.
        public func containerScope(
            @RegistrationBuilder registrations: @escaping () -> Registrations = { Registrations() }
        ) -> some View {
            modifier(ContainerScope(registrations: registrations))
        }
    }

    private struct ContainerScope: ViewModifier {
        let registrations: () -> Registrations
        @Environment(\.container) private var container
        @State private var scope: Container?

        func body(content: Content) -> some View {
            Group {
                if let scope { content.container(scope) }
            }
            .task(id: container.map { ObjectIdentifier($0) }) {
                // What goes wrong in disposal is told to the container's observers.
                try? await container?.holdScope(registrations: registrations) { scope = $0 }
            }
        }
    }
#endif
