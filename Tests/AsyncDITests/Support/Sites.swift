@testable import AsyncDI

extension ResolutionError {
    /// The path as its keys are written.
    var names: [String] { path.map(\.description) }
}
