/// Why an instance is disposed: what its `onDispose` hook may decide by.
///
/// ```swift
/// Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
///     .onDispose { work, reason in
///         if reason.error == nil { try await work.commit() } else { await work.rollBack() }
///     }
/// ```
public struct DisposalReason: Sendable {
    /// What the body of the scope threw, `CancellationError` when it was cancelled; nil when it returned, and for every
    /// disposal that is not the end of a `withScope`.
    public let error: (any Error)?

    /// A reason.
    ///
    /// - Parameter error: What the body threw, nil when it returned.
    public init(error: (any Error)? = nil) { self.error = error }
}
