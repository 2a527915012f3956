// compiles: main-actor services, and a builder that captures what is not Sendable
import AsyncDI

@MainActor final class ViewModel {
    init() {}
}

final class Settings {
    var names = ["a", "b"]
}

@MainActor func compose() async throws {
    let settings = Settings()
    let container = Container {
        for name in settings.names {
            Registration(ViewModel.self, qualifier: name) { _ in await ViewModel() }
        }
        Registration(ViewModel.self) { @MainActor _ in ViewModel() }
        Registration(using: ViewModel.init, qualifier: "using")
    }
    _ = try await container.resolve(ViewModel.self)
}
