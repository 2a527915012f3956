@testable import AsyncDI

/// Lifetimes that behave alike, for tests that run with each of them.
extension Lifetime {
    private static let session = Lifetime("session")
    private static let perScope = Lifetime("per scope", ownedBy: .resolvingContainer)

    /// What the owner shares with every scope below it.
    static let owned: [Lifetime] = [.singleton, .multiton, .weak, .session]
    /// What each container asked has for itself.
    static let asked: [Lifetime] = [.scoped, .perScope]
    /// What is kept without anybody holding it.
    static let kept: [Lifetime] = [.singleton, .multiton, .session, .scoped, .perScope]
    /// What is shared between resolutions.
    static let shared = owned + asked
}
