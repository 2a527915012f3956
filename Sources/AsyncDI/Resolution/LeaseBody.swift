/// The running body of a `withInstance`, or the collection of several leases.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, state behind a lock, and a reference
/// that may be replaced while it is read.
@usableFromInline final class LeaseBody: Body, @unchecked Sendable {
    /// The body that holds leases, in which this one runs.
    var parent: LeaseBody? { parentReference.load() }
    private let parentReference: ReplaceableReference<LeaseBody>
    /// The container that admitted a collection of leases, nil for another body.
    ///
    /// Not a constant, so that the deinitializer, which no other task sees, can hand it on. Unsafe because nothing else
    /// changes it.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var collectsIn: (any ResolutionHost)?
    private let leases: Locked<[any HeldLease]>

    /// A body of the current task.
    ///
    /// - Parameters:
    ///   - leases: The leases that it holds from its beginning.
    ///   - host: The container that the call was made to.
    ///   - run: The run whose call the body is, which may be another one than that of the task: a factory may pass its
    ///     resolver on to a detached task.
    ///   - isCollecting: Whether the body collects leases.
    init(
        leasing leases: [any HeldLease], at host: any ResolutionHost, for run: Run? = ResolutionContext.activeRun,
        isCollecting: Bool = false
    ) {
        collectsIn = isCollecting ? host : nil
        parentReference = ReplaceableReference(LeaseContext.activeBody)
        self.leases = Locked(leases)
        super.init(begunBy: host.caller(of: run))
    }

    // Lease bodies in lease bodies, in the same way as bodies in bodies.
    deinit {
        if isLeft {
            releaseElsewhere([parentReference.takeAtEnd(), collectsIn.take()])
        } else {
            releaseInTurn(parentReference.takeAtEnd())
        }
    }

    override func leaveEndedBodies() {
        super.leaveEndedBodies()
        guard let former = parent, former.hasEnded else { return }
        var next: LeaseBody? = former
        while let body = next, body.hasEnded {
            body.noteLeft()
            next = body.parent
        }
        parentReference.replace(with: next)
    }

    var isEmpty: Bool { leases.withLock { $0.isEmpty } }

    /// Adds a lease that this body is to end.
    ///
    /// The lease has begun before, so waits for the instance's disposal may not have seen the body.
    func add(_ lease: any HeldLease) {
        leases.withLock { $0.append(lease) }
        lease.noteBody()
    }

    /// Gives its leases up without ending them, and ends.
    func handOver() {
        let handedOver = takeLeases()
        Waits.end(self)
        withExtendedLifetime(handedOver) {}
    }

    private func takeLeases() -> [any HeldLease] {
        leases.withLock { exchange(&$0, with: []) }
    }

    override var outer: [Activity] { held.flatMap(\.outer) }

    /// The leases that the body holds; none after its end, when a task may outlive it.
    var held: [any HeldLease] { leases.withLock { $0 } }

    /// Runs the body of a `withInstance`, and ends its leases.
    @inlinable
    static func run<Leased: Sendable, R>(
        _ operation: (Leased) async throws -> sending R, with leased: Leased, in body: LeaseBody?,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> sending R {
        guard let body else { return try await operation(leased) }
        defer { body.end() }
        // Unsafe because `withValue` cannot express that the result was received as `sending` and that no other code
        // uses it on its way out.
        nonisolated(unsafe) let result = try await LeaseBody.current.withValue(body) {
            _ = isolation
            return try await operation(leased)
        }
        return result
    }

    @usableFromInline static let current = LeaseContext.$body

    /// Ends the leases.
    @usableFromInline
    func end() {
        let ended = takeLeases()
        Waits.end(self)
        for lease in ended.reversed() { lease.end() }
    }
}

/// The leases that the current task holds.
enum LeaseContext {
    /// The innermost body around this task or around the task that started it.
    @TaskLocal static var body: LeaseBody?

    /// The innermost body in which a run of this activity makes its calls; without one, the activity.
    static func innermost(in activity: Activity?) -> Activity? {
        guard let body = activeBody, body.isInside(activity) else { return activity }
        return body
    }

    /// The innermost body that has not ended.
    static var activeBody: LeaseBody? {
        var body = body
        while let current = body, current.hasEnded { body = current.parent }
        return body
    }
}
