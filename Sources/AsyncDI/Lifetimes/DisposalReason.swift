/// The reason for the disposal of an instance, as its `onDispose` hook receives it.
///
/// ```swift
/// Registration(UnitOfWork.self, lifetime: .scoped) { _ in UnitOfWork() }
///     .onDispose { work, reason in
///         if reason.error == nil { try await work.commit() } else { await work.rollBack() }
///     }
/// ```
public struct DisposalReason: Sendable {
    /// The error of the work that the instance belongs to; nil when the work was done.
    ///
    /// Nil when the body of the scope returned, when the owner of the container disposed it without an error, and for
    /// an instance that was evicted, reset, replaced or unregistered, even while the body runs: do not reset a unit of
    /// work. Otherwise it is the error that the body threw, or the error given to ``Container/dispose(failing:)``. A
    /// body that was cancelled and nevertheless returns has done its work. A ``ResolutionError`` with the code
    /// `disposed` means that the scope was disposed during its body, disposed with a container above it, or dropped by
    /// its owner.
    ///
    /// For an instance of a start that failed, the error that ``Container/start()`` throws. For an instance whose
    /// creation failed after its factory, the error of the creation.
    public let error: (any Error)?

    /// Creates a reason.
    ///
    /// - Parameter error: Why the work failed; nil when it was done.
    public init(error: (any Error)? = nil) { self.init(error: error, hasCaller: true) }

    /// Whether a caller receives the errors of hooks; otherwise only observers do.
    let hasCaller: Bool

    init(error: (any Error)? = nil, hasCaller: Bool) {
        self.error = error
        self.hasCaller = hasCaller
    }

    /// The reason for an instance or a scope whose own work has failed.
    func with(_ error: any Error) -> DisposalReason { DisposalReason(error: error, hasCaller: hasCaller) }

    /// The same reason, of a disposal whose caller does not receive the errors of hooks.
    var withoutCaller: DisposalReason { DisposalReason(error: error, hasCaller: false) }
}
