/// Why an instance is disposed: what its `onDispose` hook may decide by.
///
/// ```swift
/// Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
///     .onDispose { work, reason in
///         if reason.error == nil { try await work.commit() } else { await work.rollBack() }
///     }
/// ```
public struct DisposalReason: Sendable {
    /// Why the work that the instance belongs to failed; nil when it was done.
    ///
    /// Nil only when the body of the scope returned, or when the owner of the container disposed it and gave no error.
    /// The error that the body threw: a body that was cancelled and nevertheless returns has done its work. The
    /// error given to ``Container/dispose(failing:)``. Else a ``ResolutionError`` with the code `disposed`: the scope
    /// was disposed under its body, with a container above it, or because its owner dropped it.
    ///
    /// What ``Container/start()`` throws, for an instance of a start that failed.
    ///
    /// Nil as well for an instance that was evicted, reset, or replaced, and the error of its creation for an instance
    /// whose creation failed after its factory.
    public let error: (any Error)?

    /// A reason.
    ///
    /// - Parameter error: Why the work failed; nil when it was done.
    public init(error: (any Error)? = nil) { self.init(error: error, hasCaller: true) }

    /// Whether a caller gets what hooks throw; otherwise observers alone are told.
    let hasCaller: Bool

    init(error: (any Error)? = nil, hasCaller: Bool) {
        self.error = error
        self.hasCaller = hasCaller
    }

    /// The reason for an instance or a scope whose own work has failed.
    func with(_ error: any Error) -> DisposalReason { DisposalReason(error: error, hasCaller: hasCaller) }
}
