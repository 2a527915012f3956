/// A request for a shared instance that somebody makes, and that must suspend until it is there.
///
/// There may be thousands of them: what lives while they wait is kept small, in memory that each task has without
/// asking for more.
@usableFromInline struct BegunRequest: Sendable {
    /// It waits for a creation in the container asked.
    private let waiter: Waiter

    init(_ waiter: Waiter) { self.waiter = waiter }

    /// Waits for the instance.
    @usableFromInline
    func cell(isolation: isolated (any Actor)? = #isolation) async throws -> Cell {
        let waiter = waiter
        await withTaskCancellationHandler {
            // Captured so that the closure, and what comes after it, stays on the caller's executor.
            _ = isolation
            await waiter.wait()
        } onCancel: {
            waiter.resume(.cancelled)
            waiter.creation.place.leave(waiter)
        }
        // Said by itself, because that is what nearly everybody gets.
        if case .instance(let cell) = waiter.outcome { return cell }
        return try await otherwise()
    }

    // Not inlined, so that what it needs is not kept for everybody who waits.
    @inline(never)
    private nonisolated(nonsending) func otherwise() async throws -> Cell {
        let creation = waiter.creation
        let request = Request(key: creation.binding.key, pack: .none, host: creation.host, asker: nil)
        if case .answer(let cell) = try request.answer(waiter.outcome, of: creation) { return cell }
        return try await request.cell()
    }
}
