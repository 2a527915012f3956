#if canImport(SwiftUI)
    import Observation
    public import SwiftUI

    /// Loads a service for a view, and returns the phase of the loading.
    ///
    /// ```swift
    /// struct StatusView: View {
    ///     @InjectState((any API).self) private var api
    ///
    ///     var body: some View {
    ///         switch api {
    ///         case .loading: ProgressView()
    ///         case .ready(let api): ProfileView(api: api)
    ///         case .failed(let error): Button("\(error): try again") { $api.retry() }
    ///         }
    ///     }
    /// }
    /// ```
    /// The service comes from the container of the environment, once; from another container it is loaded anew. Loading
    /// begins before the first `body`, in a task that the view's state owns: it is cancelled when SwiftUI releases that
    /// state. ``InjectedView`` does the same with a task that SwiftUI owns, and is cancelled as soon as the
    /// view disappears.
    @propertyWrapper public struct InjectState<Service: Sendable>: DynamicProperty {
        @Environment(\.container) private var container
        @State private var loader = ObservedLoader<Service>()
        private let query: InjectionQuery<Service>

        /// Loads a service.
        ///
        /// - Parameters:
        ///   - service: The service type; may be inferred.
        ///   - qualifier: The qualifier that the service was registered with.
        public init(_ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil) {
            query = InjectionQuery(service, qualifier: qualifier)
        }

        /// Loads a service that is created with arguments.
        ///
        /// - Parameters:
        ///   - service: The service type; may be inferred.
        ///   - qualifier: The qualifier that the service was registered with.
        ///   - first: The first argument.
        ///   - rest: The other arguments.
        public init<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
            _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
            arguments first: First, _ rest: repeat each Argument
        ) {
            query = InjectionQuery(service, qualifier: qualifier, arguments: first, repeat each rest)
        }

        /// The phase of the loading.
        @MainActor public var wrappedValue: InjectionPhase<Service> { loader.phase }

        /// A control that acts on the phase: `$api.retry()`.
        public var projectedValue: InjectStateControl<Service> { InjectStateControl(loader: loader) }

        /// Loads from the container of the environment, unless the load has begun; SwiftUI calls it before each body.
        public func update() { loader.update(query, from: container) }
    }

    /// A view's control over a service that it loads with ``InjectState``.
    public struct InjectStateControl<Service: Sendable>: Sendable {
        fileprivate let loader: ObservedLoader<Service>

        /// Loads again after a failure; does nothing otherwise.
        @MainActor public func retry() { loader.retry() }
    }

    /// A loader whose phase SwiftUI observes.
    private final class ObservedLoader<Service: Sendable>: Observable, Sendable {
        private let loader = InjectionLoader<Service>()
        private let registrar = ObservationRegistrar()

        var phase: InjectionPhase<Service> {
            registrar.access(self, keyPath: \.phase)
            return loader.phase
        }

        func update(_ query: InjectionQuery<Service>, from container: Container?) {
            loader.update(query, from: container) { [weak self] in self?.phaseHasChanged() }
        }

        func retry() {
            loader.retry { [weak self] in self?.phaseHasChanged() }
            phaseHasChanged()
        }

        private func phaseHasChanged() { registrar.withMutation(of: self, keyPath: \.phase) {} }
    }
#endif
