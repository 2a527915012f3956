@testable import AsyncDI

extension ResolutionError {
    /// The path as its keys are written.
    var names: [String] { path.map(\.description) }

    /// The description without the places of registrations, which move whenever a test file is edited.
    var plainDescription: String {
        description.replacing(/\ \(\w+\/[\w+]+\.swift:\d+\)/, with: "")
            .replacing(/\ Registered at \w+\/[\w+]+\.swift:\d+\./, with: "")
    }
}
