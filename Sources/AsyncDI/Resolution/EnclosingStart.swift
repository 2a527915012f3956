/// A start in which a creation began, and the start around it, if a factory began it.
final class EnclosingStart: Sendable {
    private let meter: StartMeter?
    private let outer: EnclosingStart?

    init(_ meter: StartMeter?, inside outer: EnclosingStart?) {
        self.meter = meter
        self.outer = outer
    }

    /// Whether this start, or one around it, is measured by a meter.
    func isMeasured(by meter: StartMeter) -> Bool {
        self.meter === meter || outer?.isMeasured(by: meter) == true
    }
}

extension Creation {
    /// Whether it belongs to a start of the container that a meter measures.
    func belongs(to meter: StartMeter) -> Bool { start?.isMeasured(by: meter) == true }
}
