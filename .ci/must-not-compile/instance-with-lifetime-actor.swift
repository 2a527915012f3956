// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

protocol Store: Sendable {}
actor MemoryStore: Store {}

@MainActor func compose() -> Container {
    Container {
        Registration((any Store).self, lifetime: .multiton(capacity: 2), instance: MemoryStore())
    }
}
