// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

protocol Clock: Sendable {}
struct SystemClock: Clock {}

let registration = Registration((any Clock).self, qualifier: "wall", lifetime: .scoped, instance: SystemClock())
    .onDispose { _ in }
