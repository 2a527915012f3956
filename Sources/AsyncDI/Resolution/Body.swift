/// A running body around calls: that of a `withInstance` or of a `withScope`, or the collection of several leases.
///
/// `@unchecked Sendable` because its superclass is; it adds constants.
@usableFromInline class Body: Activity, @unchecked Sendable {
    /// The activity of the run that began the body.
    private let place: Activity?
    /// The innermost activity around the body, which may be another body.
    ///
    /// Calls of a task that outlives this body belong to it.
    final var around: Activity? { enclosing?.activity }

    /// Whether it is the body of a `withScope`.
    final let isOfScope: Bool

    /// A body that a call begins.
    ///
    /// - Parameters:
    ///   - caller: The call; nil outside every activity.
    ///   - isOfScope: Whether it is the body of a `withScope`.
    init(begunBy caller: Caller?, isOfScope: Bool = false) {
        self.isOfScope = isOfScope
        place = caller?.run?.activity
        super.init(.body, inside: caller)
    }

    /// Whether a run of this activity makes its calls in the body.
    final func isInside(_ activity: Activity?) -> Bool { place === activity }

    /// Whether the body runs inside another one that was begun in the same run.
    final func isWithin(_ body: Body) -> Bool {
        var next = around
        while let activity = next, activity.kind == .body {
            if activity === body { return true }
            // Unchecked because only bodies have this kind.
            next = unsafeDowncast(activity, to: Body.self).around
        }
        return false
    }
}
