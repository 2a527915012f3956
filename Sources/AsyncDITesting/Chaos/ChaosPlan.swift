/// What may happen to a factory or hook in a round of ``withChaos(seed:rounds:patience:faults:resets:_:operation:)``.
@nonexhaustive
public enum ChaosFault: String, Sendable, Hashable, CaseIterable {
    /// Its task suspends several times before it.
    case suspends
    /// It takes a few milliseconds longer.
    case isSlow
    /// It throws a ``ChaosError``: a factory before it runs, a hook at its end.
    case throwsError
    /// Its task is cancelled, and it throws `CancellationError`; factories and hooks of a creation only.
    case isCancelled
}

/// The error of a factory or hook that a chaos test lets fail.
public struct ChaosError: Error, Hashable, CustomStringConvertible {
    /// The call that failed.
    public let call: String

    /// The call that failed, as the plan has it.
    public var description: String { "chaos: \(call) throws" }
}

/// Decides what happens to each call: the same for the same seed, in whatever order calls of different services come.
struct ChaosPlan: Sendable {
    let seed: UInt64
    let faults: [ChaosFault]

    init(seed: UInt64, faults: Set<ChaosFault>) {
        self.seed = seed
        self.faults = ChaosFault.allCases.filter(faults.contains)
    }

    /// What happens to a call.
    ///
    /// - Parameters:
    ///   - call: The service and what is called.
    ///   - number: How many calls of it there were before.
    /// - Returns: The fault, and a number for its size; nil for half of all calls.
    func fault(_ call: String, number: Int) -> (fault: ChaosFault, size: Int)? {
        // FNV-1a, because `Hasher` gives other numbers in each process.
        var bits: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in call.utf8 { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01B3 }
        bits = Self.mixed(bits ^ Self.mixed(seed) &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        if faults.isEmpty || bits & 1 == 0 { return nil }
        bits = Self.mixed(bits)
        return (faults[Int(bits % UInt64(faults.count))], Int(bits >> 32 & 7) + 1)
    }

    /// The finalizer of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
