import Synchronization

/// Counts the registrations made or taken back in the whole process, after containers were set up.
///
/// A scoped instance cached for an ancestor's registration remembers the count it was found under: as long as it
/// stands, no nearer registration can have come. Otherwise the slow path looks again, and remembers the new count.
enum RegistrationCounter {
    private static let count = Atomic<UInt>(1)

    static var now: UInt { count.load(ordering: .acquiring) }
    static func advance() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
