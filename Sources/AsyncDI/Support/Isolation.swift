/// Whether the caller runs on an actor.
///
/// A function, because Swift 6.3 crashes where a `nonisolated(nonsending)` function compares `#isolation` itself.
@inlinable func isOnActor(_ isolation: isolated (any Actor)? = #isolation) -> Bool { isolation != nil }
