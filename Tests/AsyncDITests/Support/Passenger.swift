/// Counts its ends.
final class Passenger: Sendable {
    private let ends: Counter
    let number: Int
    init(_ number: Int, _ ends: Counter) { (self.number, self.ends) = (number, ends) }
    deinit { ends.increment() }
}
