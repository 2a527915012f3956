#if canImport(SwiftUI)
    import Observation
    public import SwiftUI

    /// Injects a service into a view, resolved from the environment's container while the view is shown.
    ///
    /// ```swift
    /// struct UserCount: View {
    ///     @InjectState((any UserRepository).self) var users
    ///
    ///     var body: some View {
    ///         switch users {
    ///         case .loading: ProgressView()
    ///         case .ready(let users): Text("\(users.count)")
    ///         case .failed: Button("Try again") { $users.retry() }
    ///         }
    ///     }
    /// }
    /// ```
    /// Resolved once for each container that the view comes to have; cancelled when the view's state goes.
    @propertyWrapper public struct InjectState<Service: Sendable>: DynamicProperty {
        @Environment(\.container) private var container
        @State private var loader: InjectionLoader<Service>

        /// Injects a service.
        ///
        /// - Parameters:
        ///   - service: The service type.
        ///   - qualifier: The qualifier that the service was registered with.
        public init(_ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil) {
            _loader = State(initialValue: InjectionLoader(qualifier: qualifier))
        }

        /// How far the service is.
        @MainActor public var wrappedValue: InjectionPhase<Service> { loader.phase }

        /// Resolves the service again.
        @MainActor public var projectedValue: InjectionRetry {
            InjectionRetry { [loader, container] in loader.retry(asking: container) }
        }

        /// Begins to resolve the service; called by SwiftUI before the view's body.
        nonisolated public mutating func update() {
            let (loader, container) = (loader, container)
            // SwiftUI updates views on the main actor, whether its protocol says so or not.
            MainActor.assumeIsolated { loader.begin(asking: container) }
        }
    }

    /// Asks for a service again, after resolving it failed.
    @MainActor public struct InjectionRetry {
        fileprivate let action: () -> Void

        /// Resolves the service again.
        public func retry() { action() }
    }

    /// Loads the service of an ``InjectState``.
    @MainActor @Observable final class InjectionLoader<Service: Sendable> {
        private var loading = InjectionLoading<Service>()
        @ObservationIgnored private var task: Task<Void, Never>?
        private nonisolated let qualifier: (any Qualifier)?

        nonisolated init(qualifier: (any Qualifier)?) { self.qualifier = qualifier }
        isolated deinit { task?.cancel() }

        var phase: InjectionPhase<Service> { loading.phase }

        func begin(asking container: Container?) {
            // Copied first: writing a property that is observed tells the view, also when nothing has changed.
            var next = loading
            let action = next.begin(asking: container.map { ObjectIdentifier($0) })
            if action == .none { return }
            loading = next
            carryOut(action, asking: container)
        }

        func retry(asking container: Container?) { carryOut(loading.retry(), asking: container) }

        private func carryOut(_ action: InjectionLoading<Service>.BeginAction, asking container: Container?) {
            guard case .resolve(let attempt) = action else { return }
            task?.cancel()
            task = Task { [weak self, qualifier] in
                do {
                    let container = try container ?? Injection.required(Service.self, qualifier)
                    let service = try await container.resolve(Service.self, qualifier: qualifier)
                    self?.loading.finish(attempt: attempt, .success(service))
                } catch {
                    self?.loading.finish(attempt: attempt, .failure(error))
                }
            }
        }
    }
#endif
