/// A health check that runs, perhaps beyond its time: until it ends, its instance is not checked again.
struct RunningCheck {
    /// The difference between an instance and its successor.
    enum Identity {
        /// The cell in the cache.
        case cached(Cell)
        /// The number of a storage's content, which no other content in the container has.
        case stored(generation: Int)
    }

    let identity: Identity
    let end: Completion

    /// Whether it checks this instance.
    func isOf(_ other: Identity) -> Bool {
        switch (identity, other) {
        case (.cached(let cell), .cached(let other)): cell === other
        case (.stored(let generation), .stored(let other)): generation == other
        default: false
        }
    }
}
