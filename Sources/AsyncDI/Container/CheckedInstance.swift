/// The subject of a health check that runs, perhaps beyond its time: until it ends, its instance is not checked again.
enum CheckedInstance: Hashable {
    /// The cell in the cache.
    case cached(Cell)
    /// The number of a storage's content, which no other content in the container has.
    case stored(generation: Int)

    static func == (first: CheckedInstance, second: CheckedInstance) -> Bool {
        switch (first, second) {
        case (.cached(let cell), .cached(let other)): cell === other
        case (.stored(let generation), .stored(let other)): generation == other
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .cached(let cell): hasher.combine(ObjectIdentifier(cell))
        case .stored(let generation): hasher.combine(generation)
        }
    }
}
