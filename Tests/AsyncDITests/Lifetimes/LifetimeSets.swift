@testable import AsyncDI

/// Lifetimes that behave alike, for tests that run with each of them.
extension Lifetime {
    private static let session = Lifetime("session")
    private static let perScope = Lifetime("per scope", ownedBy: .resolvingContainer)

    /// Lifetimes whose instances the owner shares with every scope below it.
    static let owned: [Lifetime] = [.singleton, .multiton, .weak, .session]
    /// Lifetimes with an instance for each resolving container.
    static let asked: [Lifetime] = [.scoped, .perScope]
    /// Lifetimes whose instances stay without other references.
    static let kept: [Lifetime] = [.singleton, .multiton, .session, .scoped, .perScope]
    /// Lifetimes whose instances are shared between resolutions.
    static let shared = owned + asked
}
