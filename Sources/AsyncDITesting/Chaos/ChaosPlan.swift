import AsyncDI

/// A fault that ``withChaos(seed:rounds:patience:faults:resets:defaultLifetime:_:operation:)`` adds to a factory or
/// hook.
@nonexhaustive
public enum ChaosFault: String, Sendable, Hashable, CaseIterable {
    /// The task suspends several times before the call.
    case suspends
    /// The call takes a few milliseconds longer.
    case isSlow
    /// The call throws a ``ChaosError``: an `onDispose` hook at its end, a factory and every other hook in its place.
    case throwsError
    /// The call's task is cancelled, and throws `CancellationError`; only in factories and hooks of a creation.
    case isCancelled
}

/// The error of a factory or hook in which a chaos test planned a failure.
public struct ChaosError: Error, Hashable, CustomStringConvertible {
    /// The call that failed.
    public let call: String

    /// The call that failed, as the plan names it.
    public var description: String { "chaos: \(call) throws" }
}

/// Decides the fault of each call: the same for the same seed, whatever the order of calls to different services.
struct ChaosPlan: Sendable {
    let seed: UInt64
    let faults: [ChaosFault]

    init(seed: UInt64, faults: Set<ChaosFault>) {
        self.seed = seed
        self.faults = ChaosFault.allCases.filter(faults.contains)
    }

    /// Decides the fault of a call.
    ///
    /// - Parameters:
    ///   - call: The service, and its factory or hook.
    ///   - number: The number of earlier calls of it.
    /// - Returns: The fault, and a number for its size; nil for half of all calls.
    func fault(_ call: String, number: Int) -> (fault: ChaosFault, size: Int)? {
        var bits = mixedBits(
            of: stableHash(of: call) ^ mixedBits(of: seed) &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        if faults.isEmpty || bits & 1 == 0 { return nil }
        bits = mixedBits(of: bits)
        return (faults[Int(bits % UInt64(faults.count))], Int(bits >> 32 & 7) + 1)
    }
}
