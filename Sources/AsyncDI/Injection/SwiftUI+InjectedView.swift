#if canImport(SwiftUI)
    public import SwiftUI

    /// Shows a service while it is resolved, when it is there, and when it failed.
    ///
    /// ```swift
    /// struct ProfileScreen: View {
    ///     var body: some View {
    ///         InjectedView((any UserRepository).self) { phase, retry in
    ///             switch phase {
    ///             case .loading: ProgressView()
    ///             case .ready(let users): ProfileView(users: users)
    ///             case .failed: Button("Try again", action: retry)
    ///             }
    ///         }
    ///     }
    /// }
    /// ```
    /// The service is resolved from the environment's container while the view is shown, once for each container; a view that goes
    /// away cancels that, and leaves alone who else waits for the service.
    public struct InjectedView<Service: Sendable, Content: View>: View {
        @Environment(\.container) private var container
        @State private var loading = InjectionLoading<Service>()
        @State private var retries = 0
        private let qualifier: (any Qualifier)?
        private let content: (InjectionPhase<Service>, @escaping @MainActor () -> Void) -> Content

        /// A view of a service.
        ///
        /// - Parameters:
        ///   - service: The service type; may be inferred.
        ///   - qualifier: The qualifier that the service was registered with.
        ///   - content: Shows a phase; gets a function that resolves the service again.
        public init(
            _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
            @ViewBuilder content: @escaping (InjectionPhase<Service>, @escaping @MainActor () -> Void) -> Content
        ) {
            self.qualifier = qualifier
            self.content = content
        }

        /// The content in its present phase.
        public var body: some View {
            content(loading.phase) { retries += 1 }
                .task(id: Attempt(container: container.map { ObjectIdentifier($0) }, retries: retries)) { await load() }
        }

        /// What a new attempt is made for.
        private struct Attempt: Equatable {
            let container: ObjectIdentifier?
            let retries: Int
        }

        private func load() async {
            guard case .resolve(let attempt) = loading.retry() else { return }
            do {
                let container = try container ?? Injection.required(Service.self, qualifier)
                let service = try await container.resolve(Service.self, qualifier: qualifier)
                loading.finish(attempt: attempt, .success(service))
            } catch {
                loading.finish(attempt: attempt, .failure(error))
            }
        }
    }
#endif
