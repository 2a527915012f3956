import AsyncDI

extension Container {
    /// Disposes the container, and waits for it, but not forever.
    ///
    /// The container's own clock cannot limit the wait: it may be one that a test drives, and no longer does.
    ///
    /// - Parameter limit: The longest time to wait; the disposal continues after it.
    /// - Throws: `DisposalError`, which names the unfinished work; ``EndlessDisposal``.
    nonisolated(nonsending) func dispose(within limit: Duration) async throws {
        let disposal = Task { try await dispose() }
        if let result = await Patience.result(of: disposal, within: limit) { return try result.get() }
        // Names what the disposal waits for, if the container's clock ends a sleep of no time.
        let late = Task { try await dispose(deadline: .zero) }
        guard let result = await Patience.result(of: late, within: .seconds(1), by: ContinuousClock()) else {
            throw EndlessDisposal(limit: limit)
        }
        try result.get()
    }
}

/// The error of a disposal that does not say what it waits for.
struct EndlessDisposal: Error, CustomStringConvertible {
    let limit: Duration

    var description: String {
        "it did not end within \(limit), and does not say what it waits for, because its clock does not end a sleep "
            + "of no time; look for a hook, a factory or a body that does not return"
    }
}
