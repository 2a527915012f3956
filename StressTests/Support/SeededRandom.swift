/// SplitMix64: small, fast, and the same sequence for the same seed everywhere.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// An independent sequence for one part of a seed's world: a task, a node, a run.
    init(seed: UInt64, stream: Int, run: Int = 0) {
        var mixer = SeededRandom(seed: seed)
        let first = mixer.next() ^ UInt64(truncatingIfNeeded: stream) &* 0xD1B5_4A32_D192_ED03
        var second = SeededRandom(seed: first)
        state = second.next() ^ UInt64(truncatingIfNeeded: run) &* 0x8CB9_2BA7_2F3D_8DD7
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `bound`.
    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }

    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// Lets other tasks go first, up to `most` times: this makes one schedule differ from the next.
    mutating func shake(upTo most: Int = 3) async {
        for _ in 0..<below(most + 1) {
            await Task.yield()
        }
    }
}
