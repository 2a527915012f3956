extension Duration {
    /// The duration in the largest unit that it fills, with three digits, for messages: `2.31 s`, `52.5 ms`, `840 µs`.
    var readable: String {
        let seconds = self / .seconds(1)
        let units: [(name: String, inSeconds: Double)] = [("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)]
        // A duration that three digits would round up to 1,000 of a unit belongs to the next larger unit.
        guard let unit = units.first(where: { seconds.magnitude >= 0.9995 * $0.inSeconds }) else { return "0 s" }
        let value = seconds / unit.inSeconds
        let precision: Double = value.magnitude < 10 ? 100 : value.magnitude < 100 ? 10 : 1
        let rounded = (value * precision).rounded() / precision
        return (Int64(exactly: rounded).map { "\($0)" } ?? "\(rounded)") + " " + unit.name
    }
}
