/// The path of an error, which grows at its front while the error travels from one creation to the next.
///
/// A pure value. The steps are in chunks, each of which is larger than those in front of it: growing step by step
/// copies each step no more often than there are chunks, which is the logarithm of their number. What is read is put
/// together then.
struct ErrorPath<Step: Sendable>: Sendable {
    /// The innermost chunk first; the steps of each are outermost first.
    private var chunks: [[Step]] = []

    init(_ steps: [Step] = []) {
        if !steps.isEmpty { chunks.append(steps) }
    }

    /// The steps, outermost first.
    var steps: [Step] { chunks.count == 1 ? chunks[0] : Array(chunks.reversed().joined()) }

    /// Puts steps in front of the path.
    ///
    /// - Parameter new: The steps, outermost first.
    /// - Returns: How many steps were copied.
    @discardableResult
    mutating func prepend(_ new: [Step]) -> Int {
        if new.isEmpty { return 0 }
        var copied = new.count
        var front = new
        while let next = chunks.last, next.count <= front.count {
            chunks.removeLast()
            front += next
            copied += front.count
        }
        chunks.append(front)
        return copied
    }
}
