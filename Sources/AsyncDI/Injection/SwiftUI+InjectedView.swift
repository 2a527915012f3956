#if canImport(SwiftUI)
    public import SwiftUI

    /// A view of a service, which is resolved when the view appears.
    ///
    /// ```swift
    /// InjectedView((any API).self) { api in
    ///     ProfileView(api: api)
    /// } placeholder: {
    ///     ProgressView()
    /// } failure: { error, retry in
    ///     Text("That did not work: \(error)")
    ///     Button("Try again", action: retry)
    /// }
    /// ```
    /// The service comes from the container of the environment, once: a view that returns from behind another one still
    /// has it. With another container, qualifier or argument it is loaded anew. The loading task belongs to the
    /// placeholder: it is cancelled when the view disappears before its end, and restarted when the view returns.
    public struct InjectedView<Service: Sendable, Content: View, Placeholder: View, Failure: View>: View {
        @Environment(\.container) private var container
        @State private var load = InjectionLoad<Service>()
        private let query: InjectionQuery<Service>
        private let content: (Service) -> Content
        private let placeholder: () -> Placeholder
        private let failure: (any Error, @escaping @MainActor () -> Void) -> Failure

        /// A view of a service.
        ///
        /// - Parameters:
        ///   - service: The service type; may be inferred.
        ///   - qualifier: The qualifier that the service was registered with.
        ///   - content: The view of the service.
        ///   - placeholder: The view shown until the service has been loaded.
        ///   - failure: The view shown after a failure; its second parameter tries again.
        public init(
            _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
            @ViewBuilder content: @escaping (Service) -> Content,
            @ViewBuilder placeholder: @escaping () -> Placeholder,
            @ViewBuilder failure: @escaping (any Error, @escaping @MainActor () -> Void) -> Failure
        ) {
            query = InjectionQuery(service, qualifier: qualifier)
            self.content = content
            self.placeholder = placeholder
            self.failure = failure
        }

        /// A view of a service that is created with arguments.
        ///
        /// - Parameters:
        ///   - service: The service type; may be inferred.
        ///   - qualifier: The qualifier that the service was registered with.
        ///   - first: The first argument.
        ///   - rest: The other arguments.
        ///   - content: The view of the service.
        ///   - placeholder: The view shown until the service has been loaded.
        ///   - failure: The view shown after a failure; its second parameter tries again.
        public init<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
            _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
            arguments first: First, _ rest: repeat each Argument,
            @ViewBuilder content: @escaping (Service) -> Content,
            @ViewBuilder placeholder: @escaping () -> Placeholder,
            @ViewBuilder failure: @escaping (any Error, @escaping @MainActor () -> Void) -> Failure
        ) {
            query = InjectionQuery(service, qualifier: qualifier, arguments: first, repeat each rest)
            self.content = content
            self.placeholder = placeholder
            self.failure = failure
        }

        /// The view of the loading's phase.
        public var body: some View {
            let request = load.request(query, from: container)
            switch load.phase(of: request) {
            case .loading:
                // The task needs a view that appears; a placeholder may have none.
                ZStack {
                    Color.clear.frame(width: 0, height: 0)
                    placeholder()
                }
                .task(id: request) { await run(request) }
            case .ready(let service): content(service)
            case .failed(let error): failure(error) { load.retry() }
            }
        }

        private func run(_ request: InjectionLoad<Service>.Request) async {
            guard case .load = load.begin(request), let result = await query.result(from: container) else { return }
            load.finished(request, with: result)
        }
    }
#endif
