#if canImport(SwiftUI)
    public import SwiftUI

    extension EnvironmentValues {
        /// The container of the views below a `container(_:)` or a `containerScope`.
        ///
        /// When none is set, ``Injection/container``: set a default container before the first view appears. A view
        /// does not observe its replacement.
        public var container: Container? {
            get { self[ContainerKey.self] ?? Injection.container }
            set { self[ContainerKey.self] = newValue }
        }
    }

    private struct ContainerKey: EnvironmentKey {
        static var defaultValue: Container? { nil }
    }

    extension View {
        /// Sets the container of this view and of the views in it.
        ///
        /// ```swift
        /// WindowGroup {
        ///     HomeView().container(container)
        /// }
        /// ```
        /// It does not become ``Container/current``: functions that use the current container, such as the free
        /// `resolve()`, do not find it.
        ///
        /// - Parameter container: The container.
        /// - Returns: The view with the container in its environment.
        nonisolated public func container(_ container: Container) -> some View { environment(\.container, container) }

        /// Opens a scope for this view, below the container of its environment, for as long as the view is part of the
        /// interface.
        ///
        /// ```swift
        /// StatusView()
        ///     .containerScope(user.id) { Registration(User.self, instance: user) }
        /// ```
        /// The scope is the view's own, also when another view has the same key. It is opened before the view's first
        /// `body`, and disposed when SwiftUI releases the view's state: not while the view is merely covered by another
        /// one. With another key, or another container above, a new scope replaces it. Disposal runs in the background;
        /// observers of the container receive the errors of hooks. When the container above is already disposed, the
        /// view gets that one, and its requests throw `disposed`.
        ///
        /// - Parameters:
        ///   - key: The scope's name in messages; another key opens another scope.
        ///   - registrations: The scope's own registrations, evaluated when it is opened.
        /// - Returns: The view with the scope as its container.
        public func containerScope(
            _ key: some Hashable & Sendable,
            @RegistrationBuilder registrations: @escaping () -> Registrations = { Registrations() }
        ) -> some View {
            modifier(ContainerScope(key: AnyKey(key), registrations: registrations))
        }

        /// Opens a scope without a key for this view, for as long as the view is part of the interface.
        ///
        /// - Parameter registrations: The scope's own registrations, evaluated when it is opened.
        /// - Returns: The view with the scope as its container.
        public func containerScope(
            @RegistrationBuilder registrations: @escaping () -> Registrations = { Registrations() }
        ) -> some View {
            modifier(ContainerScope(key: nil, registrations: registrations))
        }
    }

    /// Keeps a scope in the state of the view.
    private struct ContainerScope: ViewModifier {
        @Environment(\.container) private var parent
        @State private var slot = ScopeSlot()
        private let key: AnyKey?
        private let registrations: () -> Registrations

        init(key: AnyKey?, registrations: @escaping () -> Registrations) {
            self.key = key
            self.registrations = registrations
        }

        func body(content: Content) -> some View {
            // Opened here, not in a task, so that the view never uses the container above for a moment. A second call
            // changes nothing.
            content.environment(\.container, slot.container(below: parent, key: key, registrations: registrations))
        }
    }
#endif
